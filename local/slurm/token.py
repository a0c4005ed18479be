"""Slurm's tokens: JWT with HS256, the user in `sun` (https://slurm.schedmd.com/jwt.html)."""

import hmac
import json
from base64 import urlsafe_b64encode


def token(key: bytes, user: str, now: int, seconds: int) -> str:
    """A token of the user, valid from `now` (a Unix time) for `seconds`."""
    claims = {"iat": now, "exp": now + seconds, "sun": user}
    signed = f"{_encoded({'alg': 'HS256', 'typ': 'JWT'})}.{_encoded(claims)}"
    return f"{signed}.{_text(hmac.digest(key, signed.encode(), 'sha256'))}"


def _encoded(document: object) -> str:
    return _text(json.dumps(document, separators=(",", ":")).encode())


def _text(octets: bytes) -> str:
    return urlsafe_b64encode(octets).rstrip(b"=").decode()
