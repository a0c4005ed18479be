"""Whose turn an attempt is: a run's, then perhaps that run's end, or what followed it.

Each turn is an object with the next number, and of several that want to make it one succeeds, on every
network file system and in every container. So a run can end only while it still has the attempt, and nothing
can follow an end.
"""

from typing import Any, Dict

from shared.engines.node.places import Place


class Turns:
    """The turns of one attempt."""

    def __init__(self, attempt: Place) -> None:
        self._place = attempt.at("turns")

    def count(self) -> int:
        """How many there are. Raises OSError where that cannot be known."""
        try:
            names = self._place.names()
        except FileNotFoundError:
            return 0
        return max([int(name) for name in names if name.isdecimal()], default=0)

    def has(self, number: int) -> bool:
        """Whether it has come to that one. Raises OSError where that cannot be known."""
        return self._place.has(str(number))

    def read(self, number: int) -> Dict[str, Any]:
        """One of them; an empty one if it is not there."""
        return self._place.read(str(number))

    def add(self, number: int, value: Dict[str, Any]) -> bool:
        """Make the turn of that number; False if another process did."""
        try:
            self._place.add(str(number), value)
        except FileExistsError:
            return self.read(number) == value  # by ourselves, and the first answer was lost
        return True
