"""The idempotency key of a message: which texts it may be. Pure."""

from __future__ import annotations

import re

#: Its characters.
LONGEST_KEY = 256
_KEY = re.compile(rf"[\x21-\x7e]{{1,{LONGEST_KEY}}}")


def is_idempotency_key(text: str) -> bool:
    """Whether a message may have this key."""
    return _KEY.fullmatch(text) is not None
