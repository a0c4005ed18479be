"""The numbers that a job and its nodes report, for programs in Python."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, Union

from slipway.client.jobs.curves import Curve, rank_of
from slipway.client.jobs.drawing import picture
from slipway.failure import Failure

if TYPE_CHECKING:
    import pandas

_COLUMNS_OF_TEXT = 80


class Point(NamedTuple):
    """A number that a job or one of its nodes reported. `rank` is None where no process has it alone."""

    name: str
    file: str
    rank: int | None
    axis: str
    x: float
    value: float


#: A data frame of pandas where that is installed, else the same rows in a list.
Points: TypeAlias = Union["pandas.DataFrame", list[Point]]


class Metrics(list[Curve]):
    """The curves, those of one file and rank side by side. `note` says what is left out, if anything is."""

    def __init__(self, curves: Iterable[Curve], note: str = "") -> None:
        super().__init__(curves)
        self.note = note

    def __str__(self) -> str:
        """The curves as text, as `slipway metrics` draws them, and what is left out."""
        lines = [*picture(self, _COLUMNS_OF_TEXT), *([self.note] if self.note else [])]
        return "\n".join(lines) or "no numbers"

    def rows(self) -> list[Point]:
        """All points, one after the other."""
        return [
            Point(one.series.name, one.series.file, rank_of(one.series), one.series.axis, x, y)
            for one in self
            for x, y in one.points
        ]

    def points(self) -> Points:
        """A data frame of all points where pandas is installed, else the same rows in a list."""
        try:
            return self.frame()
        except Failure:
            return self.rows()

    def frame(self) -> "pandas.DataFrame":
        """A row for each point: name, file, rank (0 or more, if any), axis, x, value. Raises Failure.

        It needs pandas, which Slipway does not bring.
        """
        try:
            import pandas
        except ModuleNotFoundError:
            raise Failure("a frame needs pandas, which is not installed: pip install pandas") from None
        frame = pandas.DataFrame(self.rows(), columns=list(Point._fields)).astype({"rank": "Int64"})
        frame.attrs["note"] = self.note
        return frame
