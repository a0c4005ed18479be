"""Credentials for a cluster: a given token, or the key that signs tokens. Never shown."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import re
import time
from dataclasses import dataclass, field
from typing import Protocol

from shared.core.errors import Misconfigured

_TOKEN = re.compile(r"[\w=-]+\.[\w=-]+\.[\w=-]+", re.ASCII)
#: Seconds for which a token of our own is valid.
_GOOD = 300


class Key(Protocol):
    """Gives a token for each call."""

    def token(self, user: str) -> str:
        """A token for a user of the cluster."""

    @property
    def end(self) -> float | None:
        """When a token that the operator made expires (`exp`), in Unix time; None if it does not."""


@dataclass(frozen=True)
class GivenToken:
    """A token that the operator made, for the user that it names."""

    text: str = field(repr=False)

    def token(self, user: str) -> str:
        """The given token. The user that it names is not checked."""
        return self.text

    @property
    def end(self) -> float | None:
        """The `exp` of the token; None if it has none that can be read."""
        payload = self.text.split(".")[1]
        try:
            claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
            return float(claims["exp"])
        except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
            return None


@dataclass(frozen=True)
class SigningKey:
    """The key that slurmctld has as its jwt_key."""

    secret: bytes = field(repr=False)

    def token(self, user: str) -> str:
        """A token as `scontrol token` makes it: HS256, the user in `sun`.

        https://slurm.schedmd.com/jwt.html
        """
        now = int(time.time())
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sun": user, "iat": now, "exp": now + _GOOD})
        signed = ".".join(_encoded(json.dumps(part).encode()) for part in parts)
        return f"{signed}.{_encoded(hmac.digest(self.secret, signed.encode(), 'sha256'))}"

    @property
    def end(self) -> float | None:
        """Each token is new."""
        return None


def key_from(text: str, place: str) -> Key:
    """A token, or a key in base64. Raises Misconfigured, which names the place and not the text."""
    text = text.strip().removeprefix("SLURM_JWT=")  # as `scontrol token` prints it
    if _TOKEN.fullmatch(text):
        return GivenToken(text)
    try:
        secret = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        secret = b""
    if len(secret) < 16:
        raise Misconfigured(f"{place} is neither a token nor a JWT key in base64 (base64 -w0 jwt_hs256.key)")
    return SigningKey(secret)


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
