"""Cookies in headers and options: `Cookie: sid=x`, `--cookie sid=x`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

_COOKIES = re.compile(
    r"(?<![\w-])(?:set-)?cookie\\{0,3}[\"']?\]?[ \t]{0,3}[:,=][ \t]{0,3}"
    r"\\{0,3}[\"']?(?P<pairs>[^\"'\n\\]{1,4096})",
    re.ASCII | re.IGNORECASE,
)
_COOKIE_OPTION = re.compile(r"(?<![\w-])--cookies?(?:=|[ \t]{1,8})")
#: A word of a shell, of which only the first quoted piece counts.
WORD = re.compile(r"\\{0,3}(?:'[^'\n]*|\"[^\"\n]*|[^\s\"'&|<>]+)")
_PAIR = re.compile(r"[^\s=;\"'&|<>]{1,128}=(?P<value>[^\s;\"'&|<>$][^\s;\"'&|<>]*)")


def cookies(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of the values of cookies in a text, unordered."""
    if "ookie" in text or "OOKIE" in text:
        for match in _COOKIES.finditer(text):
            yield from cookie_ranges(text, *match.span("pairs"))
        for match in _COOKIE_OPTION.finditer(text):
            if word := WORD.match(text, match.end()):
                yield from cookie_ranges(text, *word.span())


def cookie_ranges(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Ranges of the values of cookies between two positions."""
    return (match.span("value") for match in _PAIR.finditer(text, start, end))
