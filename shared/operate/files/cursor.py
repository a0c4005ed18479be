"""cursor: the position of a reader in a job's files, as a text that callers send back. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from shared.core.errors import Misuse

T = TypeVar("T")
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
        return as_text([*self.run, positions])


#: The start of every file.
START = Cursor((0, 0), {})


def cursor_of(text: str) -> Cursor:
    """The cursor of a text; START for "". Raises Misuse for other texts."""
    return value_of(text, _cursor) if text else START


def _cursor(value: Any) -> Cursor:
    attempt, queued, positions = value
    by_name = {str(name): Position(count(offset), count(line)) for name, (offset, line) in positions.items()}
    return Cursor((count(attempt), count(queued)), by_name)


def as_text(value: Any) -> str:
    """A value as URL-safe text."""
    plain = json.dumps(value, separators=(",", ":"))
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def value_of(text: str, make: Callable[[Any], T]) -> T:
    """What `make` makes of such a text. Raises Misuse where the text is not one, or where `make` fails."""
    try:
        if len(text) > _LONGEST:
            raise ValueError
        plain = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        return make(json.loads(plain))
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise Misuse(
            "after is not the `next` of an earlier answer", remedy="leave it out to start from the beginning"
        ) from None


def count(value: Any) -> int:
    """The number. Raises ValueError for what is not one, or cannot be a place in a file."""
    if type(value) is not int or not 0 <= value < _MOST:
        raise ValueError
    return value
