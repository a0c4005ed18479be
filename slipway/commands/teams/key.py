"""`slipway teams key`: a key for one member of a team, where callers have no tokens of Entra."""

import json
import secrets
from collections.abc import Mapping
from typing import Any

from shared.adapters.named_keys import named_keys
from shared.core.caller import ADMIN, digest_of
from slipway.commands.asking import show
from slipway.failure import Failure

#: The prefix by which a leaked key can be found; it also distinguishes a key from a token.
_BEGINNING = "slipway_"


def run(name: str, *, operator: bool = False, as_json: bool = False) -> int:
    """Print a new key and its entry. Raises Failure for an invalid name."""
    key = _BEGINNING + secrets.token_urlsafe(32)
    entry = {name: {"sha256": digest_of(key), **({"roles": [ADMIN]} if operator else {})}}
    try:
        named_keys(entry)
    except ValueError as error:
        raise Failure(str(error)) from None
    show({"name": name, "key": key, "entry": entry}, lines, as_json=as_json)
    return 0


def lines(result: Mapping[str, Any]) -> list[str]:
    """The key, and what to do with it."""
    return [
        f"the key of {result['name']}, which is not shown again:",
        f"  {result['key']}",
        "its entry of SLIPWAY_NAMED_KEYS:",
        f"  {json.dumps(result['entry'])}",
    ]
