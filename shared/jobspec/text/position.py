"""Positions of all names and values in a JSON text. The standard library decides what is JSON.

The few packages that keep positions recurse, or lose the first of two members with the same name.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from shared.jobspec.text.tree import step

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:,]|[^ \t\r\n{}\[\]:,"]+', re.DOTALL)
#: One character of a string as it is written: half of a surrogate pair belongs to the other.
_PIECE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)


@dataclass(slots=True)
class Entry:
    """One value and, in an object, its name: half-open ranges of characters."""

    pointer: str
    name: str
    parent: int
    key: tuple[int, int] | None
    start: int
    end: int


class Positions:
    """The places of a text that is JSON. Duplicates are kept; the last one counts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.entries: list[Entry] = []
        self._last: dict[str, int] = {}
        self._scan()

    def find(self, pointer: str) -> Entry | None:
        """The value at a pointer, or None."""
        index = self._last.get(pointer)
        return None if index is None else self.entries[index]

    def duplicates(self, entry: Entry) -> list[Entry]:
        """The other members of the same object with the same pointer."""
        siblings = self._siblings(entry)
        return [other for other in siblings if other.pointer == entry.pointer and other is not entry]

    def members(self, entry: Entry) -> list[Entry]:
        """The direct members of an object or the items of a list."""
        at = next(index for index, other in enumerate(self.entries) if other is entry)
        return [self.entries[index] for index in self._children.get(at, [])]

    def raw(self, entry: Entry) -> str:
        """The value as written."""
        return self.text[entry.start : entry.end]

    def with_comma(self, entry: Entry) -> tuple[int, int]:
        """The range to delete to remove a member or an item and keep its neighbours."""
        siblings = self._siblings(entry)
        at = next(index for index, sibling in enumerate(siblings) if sibling is entry)
        first = entry.key[0] if entry.key else entry.start
        if at + 1 < len(siblings):
            following = siblings[at + 1]
            return first, following.key[0] if following.key else following.start
        return (siblings[at - 1].end if at else first), entry.end

    def cuts(self, pointers: frozenset[str]) -> list[tuple[int, int]]:
        """The ranges to delete to remove these members with their commas; ranges do not overlap."""
        spans: list[tuple[int, int]] = []
        for parent, children in self._children.items():
            siblings = [self.entries[index] for index in children]
            if parent < 0 or not any(one.pointer in pointers for one in siblings):
                continue
            last: Entry | None = None  # the one that stays, before a run of removed ones
            start: int | None = None
            for one in siblings:
                first = one.key[0] if one.key else one.start
                if one.pointer in pointers:
                    start = first if start is None else start
                    continue
                if start is not None:
                    spans.append((start, first))
                last, start = one, None
            if start is not None:
                spans.append((last.end if last else start, siblings[-1].end))
        return spans

    def decoded(self, entry: Entry) -> str | None:
        """The decoded text of a string; None for other values."""
        if self.text[entry.start] != '"':
            return None
        return _decoded(self.text[entry.start : entry.end])

    def piece_span(self, entry: Entry, piece: str) -> tuple[int, int] | None:
        """The range of a piece of a string, which may be written with escapes."""
        decoded = self.decoded(entry)
        match = re.search(rf"{re.escape(piece)}(?![A-Za-z0-9_])", decoded) if decoded else None
        at = match.start() if match else (decoded or "").find(piece)
        if decoded is None or at < 0:
            return None
        raw = self.text[entry.start + 1 : entry.end - 1]
        ends = [0]
        for match in _PIECE.finditer(raw):
            ends.append(match.end())
        shift = entry.start + 1
        return shift + ends[at], shift + ends[at + len(piece)]

    def _siblings(self, entry: Entry) -> list[Entry]:
        return [self.entries[index] for index in self._children.get(entry.parent, [])]

    @cached_property
    def _children(self) -> dict[int, list[int]]:
        children: dict[int, list[int]] = {}
        for index, entry in enumerate(self.entries):
            children.setdefault(entry.parent, []).append(index)
        return children

    def _scan(self) -> None:
        #: Open objects and lists: their entry, and for a list how many items it has had.
        stack: list[list[int]] = []
        key: tuple[str, int, int] | None = None
        for match in _TOKEN.finditer(self.text):
            token = match[0]
            if token in (",", ":"):
                continue
            if token in ("}", "]"):
                self.entries[stack.pop()[0]].end = match.end()
                continue
            if stack and key is None and self.text[self.entries[stack[-1][0]].start] == "{":
                key = (_decoded(token), match.start(), match.end())
                continue
            self._add(stack, key, match)
            key = None
            if token in ("{", "["):
                stack.append([len(self.entries) - 1, 0])

    def _add(self, stack: list[list[int]], key: tuple[str, int, int] | None, match: re.Match[str]) -> None:
        parent, pointer, name = -1, "", ""
        if stack:
            parent = stack[-1][0]
            name = key[0] if key else str(stack[-1][1])
            stack[-1][1] += 1
            pointer = step(self.entries[parent].pointer, name)
        span = (key[1], key[2]) if key else None
        self._last[pointer] = len(self.entries)
        self.entries.append(Entry(pointer, name, parent, span, match.start(), match.end()))


class Lines:
    """Lines and columns of a text, both counted from 1, as editors do; columns in characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Line and column of a character."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def bounds(self, offset: int) -> tuple[int, int]:
        """Start and end of the line of a character, without its line break."""
        line = bisect_right(self._starts, offset)
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        return start, start + len(self.text[start:end].rstrip("\r\n"))


def _decoded(token: str) -> str:
    if "\\" not in token:
        return token[1:-1]
    text: str = json.loads(token, strict=False)
    return text
