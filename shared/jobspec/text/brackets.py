"""The brackets of a JSON text that may be broken."""

from __future__ import annotations

import re
from collections.abc import Iterator

CLOSING = {"{": "}", "[": "]"}
OPENING = {"}": "{", "]": "["}
_MARK = re.compile(r'["{}\[\]]|\\.', re.DOTALL)


def brackets(text: str) -> Iterator[re.Match[str]]:
    """Every bracket outside of strings."""
    in_string = False
    for match in _MARK.finditer(text):
        mark = match[0]
        if mark == '"':
            in_string = not in_string
        elif not in_string and mark[0] != "\\":
            yield match


def still_open(text: str) -> list[int]:
    """The positions of unclosed brackets outside of strings, the innermost last."""
    opened: list[int] = []
    for match in brackets(text):
        if match[0] in CLOSING:
            opened.append(match.start())
        elif opened:
            opened.pop()
    return opened
