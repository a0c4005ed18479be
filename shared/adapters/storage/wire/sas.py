"""Shared access signatures for reading or creating one blob, by an account's key or a user delegation key."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from urllib.parse import quote

from shared.connections.signature import VERSION, signed


class Delegated(Protocol):
    """A user delegation key, as the SDK represents it."""

    signed_oid: str | None
    signed_tid: str | None
    signed_start: str | None
    signed_expiry: str | None
    signed_service: str | None
    signed_version: str | None
    value: str | None


@dataclass(frozen=True)
class Key:
    """A key for signing; `delegated` describes it if it is a user delegation key."""

    value: str = field(repr=False)
    delegated: dict[str, str] = field(default_factory=dict)


def delegated(key: Delegated) -> Key:
    """A key of user delegation."""
    named = {
        "skoid": key.signed_oid,
        "sktid": key.signed_tid,
        "skt": key.signed_start,
        "ske": key.signed_expiry,
        "sks": key.signed_service,
        "skv": key.signed_version,
    }
    return Key(key.value or "", {name: text or "" for name, text in named.items()})


def read_blob(account: str, blob: str, key: Key, expires: datetime, *, https: bool, file: str) -> str:
    """The query with which anyone can read the blob `container/name` until then, as the attachment `file`."""
    # A job wrote it, so a browser must neither run it nor show it as a page.
    shown = {
        "rscd": f"attachment; filename*=UTF-8''{quote(file, safe='')}",
        "rsct": "application/octet-stream",
    }
    return _signed(account, blob, key, "r", expires, https, shown)


def create_blob(account: str, blob: str, key: Key, expires: datetime, *, https: bool) -> str:
    """The query with which anyone can write the blob until then, once: it overwrites and reads nothing."""
    return _signed(account, blob, key, "c", expires, https, {})


def _signed(
    account: str, blob: str, key: Key, right: str, expires: datetime, https: bool, shown: dict[str, str]
) -> str:
    query = {
        "sp": right,
        "se": f"{expires:%Y-%m-%dT%H:%M:%SZ}",
        **key.delegated,
        "spr": "https" if https else "https,http",
        "sv": VERSION,
        "sr": "b",
        **shown,
    }
    who = [*key.delegated.values(), "", "", ""] if key.delegated else [""]
    return signed(query, f"/blob/{account}/{blob}", key.value, who)
