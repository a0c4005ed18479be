"""Seals the secret values of a request before the first write: AES-256-GCM, bound to their context.

Sealed text: `sealed:v1:` + base64url(nonce ‖ ciphertext). The key comes from a setting (in the
cloud a Key Vault reference); several keys may be given for rotation, of which the first one seals.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shared.core.errors import Misconfigured
from shared.jobspec import SEALED

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM


class AesSeal:
    """The seal port. Without a key nothing can be sealed, and documents with secrets are refused."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = [_key(text) for text in keys]
        self._ciphers: list[AESGCM] = []

    @property
    def available(self) -> bool:
        """Whether a key is configured."""
        return bool(self._keys)

    def seal(self, value: str, context: str) -> str:
        """The sealed text of a value."""
        nonce = os.urandom(12)
        sealed = self._opened()[0].encrypt(nonce, value.encode(), context.encode())
        return SEALED + base64.urlsafe_b64encode(nonce + sealed).decode()

    def unseal(self, text: str, context: str) -> str:
        """The value; raises Misconfigured when no key fits."""
        from cryptography.exceptions import InvalidTag

        try:
            data = base64.urlsafe_b64decode(text.removeprefix(SEALED))
        except (binascii.Error, ValueError):
            data = b""
        for cipher in self._opened():
            try:
                return cipher.decrypt(data[:12], data[12:], context.encode()).decode()
            except (InvalidTag, ValueError):
                continue
        raise Misconfigured("a sealed secret opens with no key of SLIPWAY_SEAL_KEY")

    def _opened(self) -> list[AESGCM]:
        """A cipher for each key, made at first use: their library is loaded then."""
        if len(self._ciphers) < len(self._keys):
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM

            self._ciphers = [AESGCM(key) for key in self._keys]
        return self._ciphers

    def code_of(self, text: str) -> str:
        """The first 16 digits of an HMAC-SHA256, which the first key makes."""
        if not self._keys:
            return ""
        code = hmac.new(self._keys[0], b"slipway code\n" + text.encode(), hashlib.sha256)
        return code.hexdigest()[:16]


def _key(text: str) -> bytes:
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != 32:
        raise Misconfigured("SLIPWAY_SEAL_KEY must be 32 bytes in base64, e.g. from: openssl rand -base64 32")
    return key
