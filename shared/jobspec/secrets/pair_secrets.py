"""Secrets that only their neighbours give away: `{"username": "me", "key": "x"}`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from shared.jobspec.secrets.named_secrets import named_ranges, value_at

_QUOTE = r"\\{0,3}[\"']"
_COLON = r"[ \t]{0,3}:[ \t\n]{0,3}"
#: A member that may hold a secret, up to its value.
_MEMBER = re.compile(rf"{_QUOTE}(?:key|value){_QUOTE}{_COLON}(?={_QUOTE})")
#: A member beside it by which it does.
_USER = re.compile(
    rf"{_QUOTE}(?:user(?:_?name)?|login|e?mail|account(?:_?name)?){_QUOTE}{_COLON}{_QUOTE}", re.I
)
_NAME = re.compile(rf"{_QUOTE}name{_QUOTE}{_COLON}{_QUOTE}(?P<name>\w{{1,128}}){_QUOTE}", re.I | re.ASCII)
#: How far the ends of an object are looked for.
_FAR = 1024


class _Object(NamedTuple):
    """Where an object ends, and whether another member of it says that such a member is a secret."""

    end: int
    holds: bool


def pair_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of these secrets, in order."""
    around = _Object(-1, holds=False)
    for match in _MEMBER.finditer(text) if "{" in text else ():
        if match.start() > around.end:
            around = _object(text, match)
        if around.holds and (value := value_at(text, match.end())):
            yield value


def _object(text: str, match: re.Match[str]) -> _Object:
    """The object around a member, as far as it has none inside."""
    start = max(text.rfind(mark, max(0, match.start() - _FAR), match.start()) for mark in "{}")
    ends = [end for mark in "{}" if (end := text.find(mark, match.end(), match.end() + _FAR)) >= 0]
    end = min(ends, default=match.end())
    if start < 0 or text[start] != "{":
        return _Object(end, holds=False)
    if _USER.search(text, start, end):
        return _Object(end, holds=True)
    name = _NAME.search(text, start, end)
    return _Object(end, name is not None and any(named_ranges(f"{name['name']}=secret")))
