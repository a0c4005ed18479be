"""Signs certificates for ssh, with a key of the deployment that does nothing else.

The key is what `ssh-keygen -t ed25519` writes, without a passphrase; login nodes trust its public half
(PROTOCOL.key and PROTOCOL.certkeys of OpenSSH). No error, and no text of these objects, shows it.
"""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from dataclasses import dataclass, field

from shared.core.errors import Misconfigured
from shared.core.relations.permit import Certificate, Certificates, EntryPermit

_SETTING = "SLIPWAY_ENTER_CA"
_LINE = "-----{} OPENSSH PRIVATE" + " KEY-----"
_FILE = re.compile(rf"{_LINE.format('BEGIN')}([A-Za-z0-9+/=\s]+){_LINE.format('END')}", re.ASCII)
#: How such a file begins: no cipher, and one key, whose public half is a kind and 32 bytes.
_MAGIC, _OPEN = b"openssh-key-v1\0", b"\0\0\0\x04none\0\0\0\x04none\0\0\0\0\0\0\0\x01"
_ED25519, _PUBLIC_BYTES = b"\0\0\0\x33\0\0\0\x0bssh-ed25519\0\0\0\x20", 32
_MAKE = "make one: ssh-keygen -t ed25519 -N '' -f enter_ca"
_LARGEST_SERIAL = 1 << 63


@dataclass(frozen=True)
class SshCertificates:
    """The port over one key."""

    _key: str = field(repr=False)

    def sign(self, permit: EntryPermit) -> Certificate:
        """Less than a millisecond, and 0.1 s for the first one, which imports the library."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import (
            SSHCertificateBuilder,
            SSHCertificateType,
            load_ssh_private_key,
            load_ssh_public_key,
        )

        try:
            ca = load_ssh_private_key(self._key.encode(), None)
        except ValueError:
            raise Misconfigured(f"{_SETTING} is damaged; {_MAKE}") from None
        public = load_ssh_public_key(permit.public_key.encode())
        if not isinstance(ca, Ed25519PrivateKey) or not isinstance(public, Ed25519PublicKey):
            raise Misconfigured(f"{_SETTING} does not hold an ed25519 key")
        serial = 1 + secrets.randbelow(_LARGEST_SERIAL - 1)
        builder = SSHCertificateBuilder().public_key(public).serial(serial).type(SSHCertificateType.USER)
        builder = builder.key_id(permit.key_id.encode()).valid_principals([permit.user.encode()])
        builder = builder.valid_after(int(permit.begin.timestamp())).valid_before(int(permit.end.timestamp()))
        # Without the other extensions sshd forwards no port, agent or display, and reads no ~/.ssh/rc.
        builder = builder.add_critical_option(b"force-command", permit.gate.encode())
        signed = builder.add_extension(b"permit-pty", b"").sign(ca)
        return Certificate(signed.public_bytes().decode(), serial)


def certificates_of(text: str) -> Certificates | None:
    """The port for the key of the setting; None without one. Raises Misconfigured, and imports no library."""
    if not text.strip():
        return None
    if (why := _flaw(text)) is not None:
        raise Misconfigured(f"{_SETTING} {why}; {_MAKE}")
    return SshCertificates(text.strip() + "\n")


def _flaw(text: str) -> str | None:
    """What is wrong with a key, without a word of it."""
    if text.strip().startswith(("ssh-", "ecdsa-", "sk-")):
        return "holds a public key, which login nodes get: the app needs the private one"
    match = _FILE.fullmatch(text.strip())
    if match is None:
        return "must be the text of a private key of OpenSSH, with its first and last line"
    try:
        data = base64.b64decode("".join(match[1].split()), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data.startswith(_MAGIC):
        return "cannot be read as a private key of OpenSSH"
    if not data.startswith(_MAGIC + _OPEN):
        return "has a passphrase, which the app does not know: ssh-keygen -p -N '' -f FILE removes it"
    if not data.startswith(_MAGIC + _OPEN + _ED25519):
        return "is a key of another kind than ed25519"
    private = data[len(_MAGIC + _OPEN + _ED25519) + _PUBLIC_BYTES :]
    is_whole = int.from_bytes(private[:4]) == len(private) - 4 > 0
    return None if is_whole else "is cut off"
