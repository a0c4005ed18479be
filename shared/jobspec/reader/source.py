"""The text that a person wrote, kept to find the places of problems. Costs nothing until there is one."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from shared.jobspec.checks.echoes import without_misplaced
from shared.jobspec.problems.fix import Edit
from shared.jobspec.problems.problem import Place, Problem, unknown_properties
from shared.jobspec.reader.excerpt import excerpt, hide, window
from shared.jobspec.reader.mask import secret_ranges, unknown_words
from shared.jobspec.reader.mistakes import Mending, mending, stopped_at
from shared.jobspec.text.position import Lines, Positions

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SPACE = " \t\r\n"
#: Problems of the text as a whole, in which no position needs to be found.
_WHOLE = ("SW001", "SW009")
#: Values that cannot be read, and what is still reported about them.
_UNREAD = ("SW006", "SW007")
_BESIDE_UNREAD = (*_UNREAD, "SW005", "SW012")


class _Placed(NamedTuple):
    """A problem with its place."""

    place: Place
    problem: Problem


@dataclass(frozen=True)
class Source:
    """The bytes that were sent, and their name."""

    data: bytes
    file: str = "job.json"

    def __repr__(self) -> str:
        return f"Source({self.file!r}, {len(self.data)} bytes)"

    def locate(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """The problems with places, errors first, in the order of the text; an existing place stays."""
        located = without_misplaced(_without_echoes(tuple(problems)))
        if not any(problem.place is None for problem in located):
            return located
        unread = any(one.place is None and (one.span or one.code in _WHOLE) for one in located)
        reading = self._mended if unread and self.recoded is None else self._plain
        masks = reading.masks(unknown_properties(located)) if reading else None
        placed = [(one.place, one) if one.place else self._placed(one, reading, masks) for one in located]
        return tuple(problem for _, problem in sorted(placed, key=lambda pair: _order(*pair)))

    def readable_part(self, problems: tuple[Problem, ...]) -> bytes | None:
        """The text with all its mistakes fixed, if every fix is certain; it shows further problems."""
        if [one.code for one in problems] == ["SW002"] and self.recoded is not None:
            return self.recoded.data
        if not problems or any(one.code != "SW003" or one.fix is None for one in problems):
            return None
        return self._mended.positions.text.encode() if self._mended else None

    @cached_property
    def text(self) -> str:
        """The text without its byte order mark; invalid UTF-8 is replaced."""
        encoding = next((name for bom, name in _BOMS if self.data.startswith(bom)), "utf-8-sig")
        return self.data.decode(encoding, errors="replace")

    @property
    def recoded(self) -> Source | None:
        """The same text in UTF-8, if a byte order mark gives its encoding with certainty."""
        if any(self.data.startswith(bom) for bom, _ in _BOMS) and "\ufffd" not in self.text:
            return replace(self, data=self.text.removeprefix("\ufeff").encode())
        return None

    def masked(self, problems: Iterable[Problem]) -> str:
        """The whole text without secrets and values of unknown properties, to show changes in it."""
        reading = self._plain or self._mended
        hidden = (
            reading.masks(unknown_properties(problems))
            if reading
            else unknown_words(self.text, 0, len(self.text))
        )
        return hide(self.text, hidden)

    def with_text(self, text: str) -> Source:
        """Another text in place of this one; a byte order mark stays."""
        mark = codecs.BOM_UTF8 if self.data.startswith(codecs.BOM_UTF8) else b""
        return self if text == self.text else replace(self, data=mark + text.encode())

    @cached_property
    def lines(self) -> Lines:
        """The lines of the text, split once and kept."""
        return Lines(self.text)

    @cached_property
    def _mended(self) -> _Reading | None:
        """The places in the text after mending; None if it cannot be mended with certainty."""
        try:
            error = stopped_at(self.text)
            mended = mending(self.text, error) if error else None
        except RecursionError:
            return None
        return _Reading(Positions(mended.text), mended) if mended and mended.complete else None

    @property
    def _plain(self) -> _Reading | None:
        """The places in the text as it is; None if it is not JSON."""
        try:
            return None if stopped_at(self.text) else _Reading(Positions(self.text))
        except RecursionError:
            return None

    def edits(self, problem: Problem) -> tuple[Edit, ...]:
        """The problem's fix as replacements in the text, which is JSON or has its syntax mended by them."""
        if problem.fix is None or problem.fix.kind == "text":
            return problem.fix.edits if problem.fix else ()
        return problem.fix.edits_in(Positions(self.text))

    def _placed(
        self, problem: Problem, reading: _Reading | None, masks: list[tuple[int, int]] | None
    ) -> _Placed:
        start, end = self._token(problem, reading)
        if problem.code == "SW005" and reading:
            problem = self._with_first(problem, reading)
        bounds = self.lines.bounds(start)
        hidden = unknown_words(self.text, *window(start, bounds)) if masks is None else masks
        shown = excerpt(self.text, (start, end), bounds, hidden)
        edits = problem.fix.edits if problem.fix and problem.fix.kind == "text" else ()
        if reading and problem.fix and not edits:
            edits = tuple(
                Edit(*reading.original_span((edit.start, edit.end)), edit.text)
                for edit in problem.fix.edits_in(reading.positions)
            )
        line, column = self.lines.line_and_column(start)
        place = Place(
            file=self.file,
            line=line,
            column=column,
            end_line=self.lines.line_and_column(end)[0],
            end_column=self.lines.line_and_column(end)[1],
            source=shown.source,
            caret=shown.caret,
            width=shown.width,
            edits=tuple(
                (*self.lines.line_and_column(edit.start), *self.lines.line_and_column(edit.end), edit.text)
                for edit in edits
            ),
        )
        return _Placed(place, replace(problem, place=place, fix=problem.fix if edits else None))

    def _with_first(self, problem: Problem, reading: _Reading) -> Problem:
        """The problem of a duplicate property, with the place of its first occurrence."""
        entry = reading.positions.find(problem.pointer)
        first = reading.positions.duplicates(entry)[:1] if entry else []
        if not first or first[0].key is None:
            return problem
        line, column = self.lines.line_and_column(reading.original_span(first[0].key)[0])
        return replace(problem, message=f"{problem.message}, first in line {line}, column {column}")

    def _token(self, problem: Problem, reading: _Reading | None) -> tuple[int, int]:
        if problem.span is not None:
            return problem.span
        if reading is None:
            start = len(self.text) - len(self.text.lstrip(_SPACE))
            return start, min(start + 1, len(self.text))
        return reading.original_span(_token(reading.positions, problem.pointer, problem))


@dataclass(frozen=True)
class _Reading:
    """Places in a text that is JSON, perhaps after mending."""

    positions: Positions
    mended: Mending | None = None

    def original_span(self, span: tuple[int, int]) -> tuple[int, int]:
        """The same characters in the text that a person wrote."""
        return self.mended.original_span(span) if self.mended else span

    def masks(self, unknown: frozenset[str]) -> list[tuple[int, int]]:
        """The ranges that must not be shown; comments may hold anything."""
        spans = [self.original_span(span) for span in secret_ranges(self.positions, unknown)]
        if self.mended:
            problems = self.mended.problems
            edits = [edit for one in problems if one.fix for edit in one.fix.edits]
            spans += [(edit.start, edit.end) for edit in edits if edit.end - edit.start > 1 and not edit.text]
        return spans


def _token(positions: Positions, pointer: str, problem: Problem) -> tuple[int, int]:
    """The problem's characters: a name, a value, a piece of it, or the bracket of an incomplete object."""
    entry = positions.find(pointer)
    if entry is not None and problem.of_name and entry.key:
        return entry.key
    piece = problem.piece if entry is not None else ""
    while entry is None:
        pointer = pointer.rpartition("/")[0]
        entry = positions.find(pointer)
    if positions.text[entry.start] in "{[":
        return entry.start, entry.start + 1
    return (positions.piece_span(entry, piece) if piece else None) or (entry.start, entry.end)


def _without_echoes(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """The problems without those of rules about values that cannot be read."""
    unread = {one.pointer for one in problems if one.code in _UNREAD and not one.of_name}
    return tuple(one for one in problems if one.code in _BESIDE_UNREAD or one.pointer not in unread)


def _order(place: Place, problem: Problem) -> tuple[bool, int, bool, str, int, int, str, str]:
    # The one that counts the rest comes last.
    text = place.file, place.line, place.column
    # What surrounds the job comes first, before anything that is missing at the same place.
    return (
        problem.code == "SW016",
        problem.rank,
        problem.code != "SW085",
        *text,
        problem.code,
        problem.message,
    )
