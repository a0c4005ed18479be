"""cursor: the position of a reader in a job's files, as a text that callers send back. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.core.errors import Misuse

#: The most characters of a cursor, which is part of an address.
_LONGEST = 8000
_MOST = 2**53


@dataclass(frozen=True)
class Position:
    """A position in a file: the bytes read so far, and how many of its lines had numbers."""

    offset: int = 0
    line: int = 0


@dataclass(frozen=True)
class Cursor:
    """The positions in the files of one run. `run`: the attempt, and the history entry that queued it."""

    run: tuple[int, int]
    positions: Mapping[str, Position]

    def text(self) -> str:
        """The cursor as URL-safe text."""
        positions = {name: [position.offset, position.line] for name, position in self.positions.items()}
        plain = json.dumps([*self.run, positions], separators=(",", ":"))
        return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


#: The start of every file.
START = Cursor((0, 0), {})


def cursor_of(text: str) -> Cursor:
    """The cursor of a text; START for "". Raises Misuse for other texts."""
    if not text:
        return START
    try:
        if len(text) > _LONGEST:
            raise ValueError
        plain = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        attempt, queued, positions = json.loads(plain)
        by_name = {
            str(name): Position(_count(offset), _count(line)) for name, (offset, line) in positions.items()
        }
        return Cursor((_count(attempt), _count(queued)), by_name)
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise Misuse(
            "after is not the `next` of an earlier answer", remedy="leave it out to start from the beginning"
        ) from None


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < _MOST:
        raise ValueError
    return value
