"""A token as Slurm's page on JWT describes it."""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode

from local.slurm.token import token


def decoded(part: str) -> bytes:
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def test_a_token_names_the_user_and_its_time_and_is_signed_by_the_key() -> None:
    header, claims, signature = token(b"key", "ada", 1000, 60).split(".")

    assert json.loads(decoded(header)) == {"alg": "HS256", "typ": "JWT"}
    assert json.loads(decoded(claims)) == {"sun": "ada", "iat": 1000, "exp": 1060}
    assert decoded(signature) == hmac.new(b"key", f"{header}.{claims}".encode(), hashlib.sha256).digest()
