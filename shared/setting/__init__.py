"""A setting: what the table says about each, the bounds of its kind, and how its text is read.

Comes in: the values of the environment. Goes out: rows of the table, typed values, and errors that name the
setting. `shared.settings` adds the engines' rows and reads the whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

from shared.core.notify import waits

#: How a value is read: the methods of `Settings` with these names.
Kind = Literal[
    "text", "number", "whole", "seconds", "hours", "days", "flag", "choice", "names", "ports", "durations",
    "address", "document", "objects", "table", "container", "containers", "ledger",
]  # fmt: skip


class Bounds(NamedTuple):
    """The smallest and the largest value, in the unit of the kind; of each, where a setting has several."""

    least: float
    most: float


#: A larger number is a typing error; no calendar holds what a longer time leads to.
LARGEST, LONGEST_DAYS = 1e12, 36_500
#: Of every setting of a kind, unless its row is stricter.
BOUNDS: Mapping[Kind, Bounds] = MappingProxyType(
    {
        "number": Bounds(0, LARGEST),
        "whole": Bounds(0, LARGEST),
        "seconds": Bounds(0, LONGEST_DAYS * 86_400),
        "hours": Bounds(0, LONGEST_DAYS * 24),
        "days": Bounds(0, LONGEST_DAYS),
        "ports": Bounds(1, 65_535),
        "durations": Bounds(waits.SHORTEST, waits.LONGEST),
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
    #: in local.settings.example.json, where that is not the default
    example: str | None = None
    #: stricter than those of its kind
    bounds: Bounds | None = None
    #: of a choice: what it may be
    words: tuple[str, ...] = ()
    #: of a name that is read for one more release: what takes its place
    successor: str = ""

    @property
    def limits(self) -> Bounds:
        """Its bounds. Raises KeyError for a kind that is not counted."""
        return self.bounds or BOUNDS[self.kind]
