"""The numbers that a job and its nodes report, for programs in Python."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from slipway.client.curves import Curve
from slipway.commands.output.drawing import picture
from slipway.failure import Failure

if TYPE_CHECKING:
    import pandas

_COLUMNS_OF_TEXT = 80
_COLUMNS = ["name", "file", "rank", "axis", "x", "value"]


class Metrics(list[Curve]):
    """The curves, those of one file and rank side by side. `note` says what is left out, if anything is."""

    def __init__(self, curves: Iterable[Curve], note: str = "") -> None:
        super().__init__(curves)
        self.note = note

    def __str__(self) -> str:
        """The curves as text, as `slipway metrics` draws them, and what is left out."""
        lines = [*picture(self, _COLUMNS_OF_TEXT), *([self.note] if self.note else [])]
        return "\n".join(lines) or "no numbers"

    def frame(self) -> "pandas.DataFrame":
        """A row for each point: name, file, rank (0 or more, if any), axis, x, value. Raises Failure.

        It needs pandas, which Slipway does not bring.
        """
        try:
            import pandas
        except ModuleNotFoundError:
            raise Failure("a frame needs pandas, which is not installed: pip install pandas") from None
        rows = [
            (series.name, series.file, series.rank, series.axis, x, y)
            for series, points in ((curve.series, curve.points) for curve in self)
            for x, y in points
        ]
        return pandas.DataFrame(rows, columns=_COLUMNS).astype({"rank": "Int64"})
