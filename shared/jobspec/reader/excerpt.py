"""A line of a person's text as it may be shown: secrets masked, controls escaped, cut around the token."""

from __future__ import annotations

from typing import NamedTuple

from shared.jobspec.secrets.embedded import MASK
from shared.jobspec.text.tree import printable

#: Characters of a line that are shown, and how many of them before the token.
_LONGEST = 100
_BEFORE = 40
_CUT = "…"


class Excerpt(NamedTuple):
    """The text to show, how many of its characters precede the token, and how many belong to it."""

    source: str
    caret: int
    width: int


def window(start: int, line: tuple[int, int]) -> tuple[int, int]:
    """The part of a line to show: all of a short line, or else the surroundings of the token."""
    first, last = line
    if last - first <= _LONGEST:
        return first, last
    left = max(first, min(start, last) - _BEFORE)
    return left, min(last, left + _LONGEST)


def excerpt(
    text: str, token: tuple[int, int], line: tuple[int, int], masks: list[tuple[int, int]]
) -> Excerpt:
    """The window of `line` around `token`, with every range of `masks` replaced by three stars."""
    start, end = token
    left, right = window(start, line)
    hidden = _merged(text, masks, left, right)
    shown = _CUT if left > line[0] else ""
    caret = width = None
    position, index = left, 0
    while position < right:
        if caret is None and position >= start:
            caret = len(shown)
        if width is None and caret is not None and position >= end:
            width = len(shown) - caret
        if index < len(hidden) and hidden[index][0] <= position:
            if caret is None and hidden[index][0] <= start < hidden[index][1]:
                caret = len(shown)
            shown += MASK
            position, index = hidden[index][1], index + 1
            continue
        character = text[position]
        shown += " " if character == "\t" else printable(character)
        position += 1
    caret = len(shown) if caret is None else caret
    width = len(shown) - caret if width is None else width
    return Excerpt(shown + (_CUT if right < line[1] else ""), caret, max(1, width))


def hide(text: str, masks: list[tuple[int, int]]) -> str:
    """The text with every range replaced by three stars; lines stay lines."""
    shown, position = [], 0
    for start, end in _merged(text, masks, 0, len(text)):
        lines = "\n" * text.count("\n", start, end)
        shown += [text[position:start], MASK, lines]
        position = end
    return "".join((*shown, text[position:]))


def _merged(text: str, masks: list[tuple[int, int]], first: int, last: int) -> list[tuple[int, int]]:
    """The ranges inside the window, those that meet or have only blanks between them made one."""
    merged: list[tuple[int, int]] = []
    for mask in sorted(masks):
        start, end = max(mask[0], first), min(mask[1], last)
        if start >= end:
            continue
        if merged and (start <= merged[-1][1] or text[merged[-1][1] : start].isspace()):
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
