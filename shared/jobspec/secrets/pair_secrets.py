"""Secrets that only their neighbours give away: `{"username": "me", "key": "x"}`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

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


def pair_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of these secrets, in order."""
    end, holds = -1, False
    for match in _MEMBER.finditer(text) if "{" in text else ():
        if match.start() > end:
            end, holds = _object(text, match)
        if holds and (value := value_at(text, match.end())):
            yield value


def _object(text: str, match: re.Match[str]) -> tuple[int, bool]:
    """Where the object around a member ends, and whether it says that the member is a secret."""
    start = max(text.rfind(mark, max(0, match.start() - _FAR), match.start()) for mark in "{}")
    ends = [end for mark in "{}" if (end := text.find(mark, match.end(), match.end() + _FAR)) >= 0]
    end = min(ends, default=match.end())
    if start < 0 or text[start] != "{":
        return end, False
    if _USER.search(text, start, end):
        return end, True
    name = _NAME.search(text, start, end)
    return end, name is not None and any(named_ranges(f"{name['name']}=secret"))
