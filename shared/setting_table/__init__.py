"""A setting: its row in the table, the bounds of its kind, and how its text is read.

In: the values of the environment. Out: rows of the table, typed values, and errors that name the
setting. `shared.settings` adds the engines' rows and reads the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

from shared.core.notify import schedule_bounds

#: The kinds of values: `Settings` has a method of the same name for each.
Kind = Literal[
    "text", "number", "whole", "seconds", "minutes", "hours", "days", "flag", "choice", "names", "ports",
    "duration", "durations", "address", "document", "objects", "table", "container", "containers",
    "ledger", "crontab",
]  # fmt: skip


class Bounds(NamedTuple):
    """The smallest and the largest value, in the unit of the kind.

    If a setting has several values, they hold for each.
    """

    least: float
    most: float


#: A larger number is a typing error; a longer time leads beyond what a date can express.
LARGEST, LONGEST_DAYS = 1e12, 36_500
#: The bounds of every setting of a kind, unless its row is stricter.
BOUNDS: Mapping[Kind, Bounds] = MappingProxyType(
    {
        "number": Bounds(0, LARGEST),
        "whole": Bounds(0, LARGEST),
        "seconds": Bounds(0, LONGEST_DAYS * 86_400),
        "minutes": Bounds(0, LONGEST_DAYS * 1_440),
        "hours": Bounds(0, LONGEST_DAYS * 24),
        "days": Bounds(0, LONGEST_DAYS),
        "ports": Bounds(1, 65_535),
        "durations": Bounds(schedule_bounds.SHORTEST, schedule_bounds.LONGEST),
    }
)


@dataclass(frozen=True)
class Setting:
    """One setting: an application setting, which is an environment variable."""

    #: its heading in the documentation, a name of `slipway.settings_page.GROUPS`
    group: str
    kind: Kind
    default: str
    about: str
    #: its value in local.settings.example.json, if that is not the default
    example: str | None = None
    #: stricter than those of its kind
    bounds: Bounds | None = None
    #: of a number: what is wrong with one that is within the bounds; "" if nothing is
    check: Callable[[float], str] | None = None
    #: the words of a choice
    words: tuple[str, ...] = ()
    #: for one whose empty text is refused, since its default gives more rights: what to do
    if_empty: str = ""

    @property
    def limits(self) -> Bounds:
        """The bounds of a setting. Raises KeyError for a kind without numbers."""
        return self.bounds or BOUNDS[self.kind]
