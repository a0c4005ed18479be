"""Signatures of webhooks: Standard Webhooks 1.0.0, symmetric (`v1`). Pure.

The signed bytes are id, timestamp and body joined by dots. The body is signed as the bytes that are sent, and
is never serialised again.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

_PREFIX = "whsec_"
_SHORTEST, _LONGEST = 24, 64  # bytes of key, from the specification
_ID = re.compile(r"[A-Za-z0-9_\-]{1,200}", re.ASCII)

_HOST = re.compile(r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*|\[[0-9a-f:.]{2,60}\]", re.ASCII)

_HOW_TO_MAKE_ONE = (
    f"a webhook secret is {_PREFIX!r} and the standard base64 of {_SHORTEST} to {_LONGEST} random bytes; "
    "make one with: echo whsec_$(openssl rand -base64 32)"
)


def signature_headers(webhook_id: str, timestamp: int, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
    """Return the three Standard Webhooks headers for one try, made at `timestamp` (unix seconds).

    Several secrets (rotation) give several signatures. Raises ValueError for an unusable id, time or secret.
    """
    if not _ID.fullmatch(webhook_id):
        raise ValueError(
            "a webhook id holds 1 to 200 of A-Z a-z 0-9 _ - (a dot would make signatures ambiguous)"
        )
    if timestamp < 0:
        raise ValueError("a webhook timestamp is a number of seconds since 1970")
    if not secrets:
        raise ValueError(f"no secret to sign with; {_HOW_TO_MAKE_ONE}")
    signed = b".".join((webhook_id.encode(), str(timestamp).encode(), body))
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(_signature(_key(secret), signed) for secret in secrets),
    }


def check_secret(secret: str) -> None:
    """Raise ValueError, without showing the secret, unless it can be used to sign."""
    _key(secret)


def secrets_from(document: object) -> dict[str, tuple[str, ...]]:
    """Names and their secrets, one or several. Raises ValueError, without showing a secret."""
    if not isinstance(document, dict):
        raise ValueError("it must be an object: name → secret")
    by_name: dict[str, tuple[str, ...]] = {}
    for name, value in document.items():
        if isinstance(value, dict) and value.keys() != {"secret", "hosts"}:
            raise ValueError(f'{name!r} is an object with other members than "secret" and "hosts"')
        written = value["secret"] if isinstance(value, dict) else value
        secrets = tuple(written) if isinstance(written, list) else (written,)
        if not secrets or not all(isinstance(secret, str) for secret in secrets):
            raise ValueError(f"{name!r} is neither a secret nor a list of secrets")
        for secret in secrets:
            try:
                check_secret(secret)
            except ValueError as error:
                raise ValueError(f"{name!r}: {error}") from None
        by_name[name] = secrets
    return by_name


def hosts_from(document: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Names and the hosts to which their signatures go. Raises ValueError as `secrets_from` does."""
    secrets_from(document)
    by_name: dict[str, frozenset[str]] = {}
    for name, value in document.items():
        if not isinstance(value, dict):
            continue
        hosts = value.get("hosts", [])
        if not isinstance(hosts, list) or not hosts:
            raise ValueError(f'{name!r}: "hosts" is a list of host names; leave it out for any host')
        for host in hosts:
            if not isinstance(host, str) or not _HOST.fullmatch(host.lower()):
                raise ValueError(f'{name!r}: "hosts" has what is not a host name; write hooks.example.com')
        by_name[name] = frozenset(host.lower() for host in hosts)
    return by_name


def _signature(key: bytes, signed: bytes) -> str:
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode("ascii")


@lru_cache(maxsize=64)
def _key(secret: str) -> bytes:
    """The key of a secret, decoded strictly.

    A lenient decoder would silently turn a mistyped secret into another key.
    """
    if not secret.startswith(_PREFIX):
        raise ValueError(f"the secret does not start with {_PREFIX!r}; {_HOW_TO_MAKE_ONE}")
    encoded = secret.removeprefix(_PREFIX)
    try:
        key = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        # `from None`: a decoder's error may quote what it was given.
        raise ValueError(f"the secret is not standard base64 after {_PREFIX!r}; {_HOW_TO_MAKE_ONE}") from None
    if base64.b64encode(key).decode("ascii") != encoded:
        raise ValueError(f"the secret is not standard base64 after {_PREFIX!r}; {_HOW_TO_MAKE_ONE}")
    if not _SHORTEST <= len(key) <= _LONGEST:
        raise ValueError(f"the secret has {len(key)} bytes; {_HOW_TO_MAKE_ONE}")
    return key
