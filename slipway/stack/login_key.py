"""The key with which a person logs in to the nodes of their local stack: made once, in its data directory."""

from __future__ import annotations

import os
from pathlib import Path

from slipway.settings import LOGIN, LOGIN_KEY


def login_key(data: Path) -> str:
    """The public half; the private one is a file there that only its owner may read. Raises OSError."""
    file = data / LOGIN / LOGIN_KEY
    public = file.with_name(f"{file.name}.pub")
    if not public.is_file():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
            PublicFormat,
        )

        key = Ed25519PrivateKey.generate()
        file.parent.mkdir(mode=0o700, exist_ok=True)
        file.unlink(missing_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as private:
            private.write(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
        public.write_bytes(key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH) + b"\n")
    return public.read_text(encoding="ascii").strip()
