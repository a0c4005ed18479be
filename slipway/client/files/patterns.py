"""Which folders may hold a file that matches a pattern."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import takewhile

#: A part of a pattern: a set of characters, or one character.
_PART = re.compile(r"\[!?\]?[^\]]*\]|.", re.DOTALL)


def may_begin(folder: str, pattern: str) -> bool:
    """Whether the pattern may match a file below this folder, or a folder above such a file."""
    if f"{folder}/".startswith(f"{pattern.rstrip('/')}/") or pattern.startswith(f"{folder}/"):
        return True
    parts = _PART.findall(pattern)
    ways = _after_stars(parts, {0})
    for letter in f"{folder}/":
        ways = _after_stars(
            parts, {at if parts[at] == "*" else at + 1 for at in ways if _takes(parts, at, letter)}
        )
    return bool(ways)


def _takes(parts: Sequence[str], at: int, letter: str) -> bool:
    return at < len(parts) and fnmatchcase(letter, parts[at])


def _after_stars(parts: Sequence[str], ways: set[int]) -> set[int]:
    """The parts that may come next: a star also matches nothing."""
    result: set[int] = set()
    for way in ways:
        stars = takewhile(lambda at: parts[at] == "*", range(way, len(parts)))
        result |= {way, *(at + 1 for at in stars)}
    return result
