"""The turns of an attempt: a run's, then perhaps that run's end, or its successor.

Each turn is an object with the next number. Of several writers of the same turn one succeeds, on every
network file system and in every container. So a run can end only while it still has the attempt, and nothing
can follow an end.
"""

from typing import Any, Dict

from shared.engines.node.store import Store


class Turns:
    """The turns of one attempt."""

    def __init__(self, attempt: Store) -> None:
        self._store = attempt.child("turns")

    def count(self) -> int:
        """The number of turns. Raises OSError if it cannot be found out."""
        try:
            names = self._store.names()
        except FileNotFoundError:
            return 0
        return max([int(name) for name in names if name.isdecimal()], default=0)

    def has(self, number: int) -> bool:
        """Whether that turn exists. Raises OSError if it cannot be found out."""
        return self._store.has(str(number))

    def read(self, number: int) -> Dict[str, Any]:
        """Read a turn; an empty one if it does not exist."""
        return self._store.read(str(number))

    def add(self, number: int, value: Dict[str, Any]) -> bool:
        """Write the turn of that number; False if another process did."""
        try:
            self._store.add(str(number), value)
        except FileExistsError:
            return self.read(number) == value  # written by this process, and the first answer was lost
        return True
