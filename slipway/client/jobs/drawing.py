"""Curves as text: a picture of sixty columns or more, or a line for each point."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from shared.operate.files.series import Series
from slipway.client.jobs.curves import Curve
from slipway.terminal.characters import printable
from slipway.terminal.screen import cells, cut, padded

#: Columns of a picture: the fewest and the most, and those of a number.
NARROWEST, _WIDEST, _NUMBER = 60, 120, 9
_NAME = 14
_LEVELS = "▁▂▃▄▅▆▇█"
#: Of the lines for points.
HEAD = ("name", "file", "rank", "axis", "x", "value")


def picture(curves: Sequence[Curve], columns: int) -> list[str]:
    """Each series on a line of its own, below the file that it comes from."""
    columns = min(max(columns, NARROWEST), _WIDEST)
    longest = max((cells(printable(curve.series.name)) for curve in curves), default=0)
    name = min(longest, _NAME + (columns - NARROWEST) // 2)
    width = columns - name - 3 * (_NUMBER + 1) - 1
    lines: list[str] = []
    for title, group in groupby(curves, key=lambda curve: _title(curve.series)):
        together = list(group)
        xs = [x for curve in together for x in curve.xs]
        span = f" {short(min(xs))} to {short(max(xs))}" if together[0].series.axis != "time" else ""
        head = "".join(f" {word:>{_NUMBER}}" for word in ("last", "least", "greatest"))
        lines += [*([""] if lines else []), f"{title}{span}", f"{'':{name + width + 1}}{head}".rstrip()]
        lines += [_row(curve, name, width) for curve in together]
    return lines


def points(curves: Iterable[Curve]) -> Iterator[str]:
    """The points, with tabs between the columns."""
    for curve in curves:
        series = curve.series
        rank = "" if series.rank is None else str(series.rank)
        for x, y in curve.points:
            yield "\t".join(
                (printable(series.name), printable(series.file), rank, series.axis, repr(x), repr(y))
            )


def short(value: float) -> str:
    """A number in at most nine characters."""
    texts = (f"{value:.{digits}g}" for digits in (6, 5, 4, 3, 2))
    return next(text for text in texts if len(text) <= _NUMBER)


def spark(values: Sequence[float], width: int) -> str:
    """The values from left to right; each column is the mean of some, between the least and the greatest."""
    columns = min(width, len(values))
    if not columns:
        return ""
    edges = [len(values) * column // columns for column in range(columns + 1)]
    least, greatest = min(values), max(values)
    # Halves, since the whole span of floats is not a float.
    span = greatest / 2 - least / 2
    shown = ""
    for first, stop in pairwise(edges):
        mean = sum(value / (stop - first) for value in values[first:stop])
        height = (mean / 2 - least / 2) / span if span else 0.5
        shown += _LEVELS[min(len(_LEVELS) - 1, max(0, int(height * len(_LEVELS))))]
    return shown


def _row(curve: Curve, name: int, width: int) -> str:
    title = printable(curve.series.name)
    title = padded(cut(title, name), name)
    ys = curve.ys
    numbers = "".join(f" {short(value):>{_NUMBER}}" for value in (ys[-1], min(ys), max(ys)))
    return f"{title} {spark(ys, width):<{width}}{numbers}"


def _title(series: Series) -> str:
    rank = "" if series.rank is None else f", rank {series.rank}"
    return f"{printable(series.file)}{rank}, by {series.axis}"
