"""series: finds numbers in the lines of a job's output. Pure; no line is trusted.

A line is a JSON object: `{"slipway": {"epoch": 3, "loss": 0.1}}` in what a job prints, and without the
wrapping in a file of its own. `step`, `epoch` or `time` is the position of the numbers, `rank` their process.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

#: The most bytes of a line with numbers.
LONGEST_LINE = 8192
#: The most series in one answer, and numbers of one line.
MOST_SERIES, _MOST_NUMBERS = 200, 100
_LONGEST_NAME = 64
#: The position of a number: the first of these that the line has, otherwise the number of the line.
_AXES = ("step", "epoch", "time")
_LINE, _RANK = "line", "rank"
_MOST_RANKS = 1_000_000
_MARK = b'"slipway"'
#: NaN and Infinity are not numbers, neither here nor in JSON.
_JSON = json.JSONDecoder(parse_constant=lambda _: None)
#: Whole numbers up to here are exact as floats.
_EXACT = 2.0**53


@dataclass(frozen=True)
class Series:
    """What the numbers of one series share: name, file, axis, and rank."""

    name: str
    file: str
    axis: str
    rank: int | None = None


@dataclass
class Points:
    """The numbers of one series, in the order of their lines."""

    xs: array[float] = field(default_factory=lambda: array("d"))
    ys: array[float] = field(default_factory=lambda: array("d"))


@dataclass(frozen=True)
class Lines:
    """The whole lines of a chunk of a file, and how many bytes of the chunk they take."""

    text: bytes
    done: int


class Collector:
    """The numbers of many lines, by series. `left_out` counts those of series beyond the limit."""

    def __init__(self) -> None:
        self.series: dict[Series, Points] = {}
        self.left_out = 0

    def add(self, file: str, text: bytes, number: int, *, wrapped: bool) -> int:
        """Add the numbers of whole lines, counted from `number` on. Returns how many lines had any."""
        for line in _marked(text) if wrapped else text.split(b"\n"):
            members = _members(line, wrapped=wrapped)
            number += self._take(file, members, number + 1) if members else 0
        return number

    def _take(self, file: str, members: Mapping[str, Any], number: int) -> bool:
        axis = next((name for name in _AXES if _number(members.get(name)) is not None), _LINE)
        x = float(number) if axis == _LINE else _number(members[axis])
        rank = members.get(_RANK)
        whose = rank if type(rank) is int and 0 <= rank < _MOST_RANKS else None
        is_new = False
        for name in list(members)[:_MOST_NUMBERS]:
            y = _number(members[name])
            if y is None or x is None or name in _AXES or name == _RANK or not _is_name(name):
                continue
            is_new = True
            points = self._points(Series(name, file, axis, whose))
            if points is None:
                self.left_out += 1
            else:
                points.xs.append(x)
                points.ys.append(y)
        return is_new

    def _points(self, series: Series) -> Points | None:
        if series not in self.series and len(self.series) < MOST_SERIES:
            self.series[series] = Points()
        return self.series.get(series)


def whole_lines(data: bytes, *, begins: bool, ends: bool) -> Lines:
    """The whole lines of a chunk of a file.

    The chunk begins with the file's first byte, or with the byte before the position. If that byte is not a
    line break, the rest of a line that was too long follows. `ends`: the file is complete.
    """
    start = 0 if begins else data.find(b"\n") + 1
    if not begins and start == 0:
        return Lines(b"", len(data))
    stop = len(data) if ends else data.rfind(b"\n") + 1
    if stop <= start:  # no line ends here
        return Lines(b"", len(data) if len(data) - start > LONGEST_LINE else start)
    return Lines(data[start:stop], stop)


def sampled(points: Points, most: int) -> list[list[float | int]]:
    """At most this many of the points (4 or more): the first, the last, and the extremes between them.

    The extremes are those of pieces with equal numbers of points, so the overall ones are among them.
    """
    count = len(points.xs)
    positions: Sequence[int] = range(count)
    if count > most:
        pieces = (most - 2) // 2
        edges = [1 + piece * (count - 2) // pieces for piece in range(pieces + 1)]
        between = [at for edge in pairwise(edges) for at in _extremes(points.ys, *edge)]
        positions = [0, *between, count - 1]
    return [[_plain(points.xs[at]), _plain(points.ys[at])] for at in positions]


def _extremes(ys: array[float], first: int, stop: int) -> list[int]:
    piece = range(first, stop)
    return sorted({min(piece, key=ys.__getitem__), max(piece, key=ys.__getitem__)})


def _plain(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < _EXACT else value


def _marked(text: bytes) -> Iterator[bytes]:
    """The lines that may hold numbers: most of what a job prints is something else."""
    at = text.find(_MARK)
    while at >= 0:
        start, stop = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
        stop = len(text) if stop < 0 else stop
        yield text[start:stop]
        at = text.find(_MARK, stop)


def _members(line: bytes, *, wrapped: bool) -> Mapping[str, Any]:
    """The members of a line's object; empty for other lines."""
    line = line.strip()
    if not line.startswith(b"{") or len(line) > LONGEST_LINE:
        return {}
    try:
        document = _JSON.decode(line.decode())
    except (ValueError, RecursionError):
        return {}
    inner = document.get("slipway") if "slipway" in document or wrapped else document
    return inner if isinstance(inner, dict) else {}


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _is_name(name: str) -> bool:
    return 0 < len(name) <= _LONGEST_NAME and name.isprintable() and bool(name.strip())
