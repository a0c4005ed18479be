"""The brackets of a JSON text that may be broken."""

from __future__ import annotations

import re

CLOSING = {"{": "}", "[": "]"}
OPENING = {"}": "{", "]": "["}
_MARK = re.compile(r'["{}\[\]]|\\.', re.DOTALL)


def still_open(text: str) -> list[int]:
    """Where brackets stand that are not closed, the innermost last; those inside of texts do not count."""
    opened: list[int] = []
    in_string = False
    for match in _MARK.finditer(text):
        mark = match[0]
        if mark == '"':
            in_string = not in_string
        elif in_string or mark[0] == "\\":
            continue
        elif mark in "{[":
            opened.append(match.start())
        elif opened:
            opened.pop()
    return opened
