"""Named keys: each is one caller, where callers have no tokens of Entra.

The setting holds their hashes. On Azure they are function keys as well, which the host checks first.
"""

from __future__ import annotations

import hmac
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.core.caller import KEY_NAME, KEY_NAME_RULE, ROLES, SUBMIT, Caller, digest_of
from shared.core.errors import Misuse

log = logging.getLogger(__name__)

_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_MEMBERS = {"sha256", "roles"}


@dataclass(frozen=True)
class HashedKeys:
    """The port over the hashes of a setting."""

    #: by hash
    holders: Mapping[str, Caller] = field(repr=False)

    def holder(self, key: str) -> Caller:
        """Compares with each hash, in a time that does not depend on the key."""
        if not key:
            raise Misuse(
                "a key is needed: this deployment knows its callers by their keys",
                status=401,
                remedy="send the header x-functions-key, with the key that its operator gave you",
            )
        digest, owner = digest_of(key).encode(), None
        for one, holder in self.holders.items():
            if hmac.compare_digest(one.encode(), digest):
                owner = holder
        if owner is None:
            log.info("refused a key without a name")
            raise Misuse(
                "the key that you sent is not a named key of this deployment",
                status=403,
                remedy="send the key that its operator gave you; SLIPWAY_NAMED_KEYS names the keys",
            )
        return owner


def named_keys(document: Any, *, tokens: bool = False) -> HashedKeys:
    """The keys of a setting. Raises ValueError, which never shows a value.

    `tokens`: whether callers are to send tokens of Entra, instead.
    """
    if tokens:
        raise ValueError("SLIPWAY_TENANT is set, too: callers have either keys or tokens")
    if not isinstance(document, dict):
        raise ValueError('it must be an object: name → {"sha256": "…"}')
    holders: dict[str, Caller] = {}
    for name, entry in document.items():
        if not KEY_NAME.fullmatch(name):
            raise ValueError(f"a name has {KEY_NAME_RULE}")
        digest = _digest(name, entry)
        if digest in holders:
            raise ValueError(f"{name} and {holders[digest].id} have the same key")
        holders[digest] = Caller(name, _roles(name, entry), key=name)
    return HashedKeys(holders)


def _digest(name: str, entry: Any) -> str:
    digest = entry.get("sha256") if isinstance(entry, dict) and entry.keys() <= _MEMBERS else None
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest.lower()):
        raise ValueError(
            f'{name} must be {{"sha256": 64 hexadecimal digits}}, and may have "roles"; '
            "`slipway teams key` makes a key and its entry"
        )
    return digest.lower()


def _roles(name: str, entry: dict[str, Any]) -> frozenset[str]:
    roles = entry.get("roles", [SUBMIT])
    if not isinstance(roles, list) or not roles or not all(one in ROLES for one in map(str, roles)):
        raise ValueError(f"{name}: roles must be a list of {', '.join(sorted(ROLES))}")
    return frozenset(roles)
