"""The metrics that a job reports, assembled from the API's answers."""

from __future__ import annotations

import re
from array import array
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from shared.operate.files.series import MOST_SERIES, Points, Series, sampled
from slipway.client.calls.patience import patiently
from slipway.client.service import Service

if TYPE_CHECKING:
    from slipway.client import shapes

#: How many points of a series are kept; at twice as many, they are thinned out.
_MOST_POINTS = 2000
#: Standard output of a numbered process.
_LOG = re.compile(r"stdouterr/stdout-(?:wk-)?(\d{1,9})\.txt", re.ASCII)


@dataclass
class Curve:
    """The points of one series, and how many values they stand for."""

    series: Series
    points: list[list[float]]
    count: int

    @property
    def xs(self) -> list[float]:
        """The x coordinates of the points, in order."""
        return [x for x, _ in self.points]

    @property
    def ys(self) -> list[float]:
        """The y coordinates of the points, in order."""
        return [y for _, y in self.points]


class Curves:
    """The curves of the series with these names (default: all), at most 200 of them."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        self._names = names
        self._curves: dict[Series, Curve] = {}
        #: the names of reported series that were not requested
        self.others: set[str] = set()
        self._note, self._left_out = "", 0

    def add(self, answer: Mapping[str, Any]) -> list[Curve]:
        """Add an answer; returns its new points."""
        if answer["restarted"]:
            self._curves.clear()
            self._left_out = 0
        self._note = answer.get("note", self._note)
        new = []
        for curve in map(_curve, answer["series"]):
            if not self._wants(curve.series):
                self.others.add(curve.series.name)
                continue
            if curve.series not in self._curves and len(self._curves) >= MOST_SERIES:
                self._left_out += curve.count
                continue
            new.append(curve)
            own = self._curves.setdefault(curve.series, Curve(curve.series, [], 0))
            own.points += curve.points
            own.count += curve.count
            if len(own.points) > 2 * _MOST_POINTS:
                own.points = sampled(Points(array("d", own.xs), array("d", own.ys)), _MOST_POINTS)
        return new

    @property
    def note(self) -> str:
        """A note on the series that were left out; "" if there are none."""
        if not self._left_out:
            return self._note
        beyond = (
            f"left out: {self._left_out} numbers beyond the first {MOST_SERIES} series; name those you want"
        )
        return f"{self._note}; {beyond}" if self._note else beyond

    def all(self) -> list[Curve]:
        """Every curve, those of one file and rank side by side."""
        return sorted(self._curves.values(), key=lambda curve: _order(curve.series))

    def _wants(self, series: Series) -> bool:
        return not self._names or any(fnmatchcase(series.name, name) for name in self._names)


async def answers(api: Service, job_id: str, after: str = "") -> AsyncGenerator[shapes.Metrics]:
    """The API's answers, until there is nothing more for now; `after` is the `next` of an earlier answer."""
    more = True
    while more:
        answer = await patiently(lambda since=after: api.metrics(job_id, since))  # type: ignore[misc]
        after, more = answer["next"], answer["more"]
        yield answer


def curves_as_json(curves: Iterable[Curve]) -> list[dict[str, Any]]:
    """As the API writes them."""
    return [
        {
            "name": curve.series.name,
            "file": curve.series.file,
            "axis": curve.series.axis,
            **({} if curve.series.rank is None else {"rank": curve.series.rank}),
            "count": curve.count,
            "points": curve.points,
        }
        for curve in curves
    ]


def rank_of(series: Series) -> int | None:
    """The process of a series: the one that it names, else the one in whose log it appears."""
    if series.rank is not None:
        return series.rank
    match = _LOG.fullmatch(series.file)
    return int(match[1]) if match else None


def _curve(one: Mapping[str, Any]) -> Curve:
    series = Series(one["name"], one["file"], one["axis"], one.get("rank"))
    return Curve(series, list(one["points"]), one["count"])


def _order(series: Series) -> tuple[str, str, int, str]:
    return series.file, series.axis, -1 if series.rank is None else series.rank, series.name
