"""Keys for ssh, the same in each process of the tests."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat


def private_key() -> str:
    """The text of a file with an ed25519 key."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(100, 132)))
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()


def public_key() -> str:
    """The public half of another one, as ssh writes it."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32))).public_key()
    return key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
