"""Whose turn an attempt is: a run's, then perhaps that run's end, or what followed it.

Each turn is a file with the next number, and of several that want to make it one succeeds, on every network
file system. So a run can end only while it still has the attempt, and nothing can follow an end.
"""

from pathlib import Path
from typing import Any, Dict

from shared.engines.node.files import PRIVATE, read, write


class Turns:
    """The turns of one attempt."""

    def __init__(self, attempt: Path) -> None:
        self._directory = attempt / "turns"

    def count(self) -> int:
        """How many there are. Raises OSError where that cannot be known."""
        # To open a directory makes a network file system ask its server; a name that was not there it may
        # remember for a minute.
        entries = self._directory.iterdir() if self._directory.exists() else ()
        return max([int(entry.name) for entry in entries if entry.name.isdecimal()], default=0)

    def read(self, number: int) -> Dict[str, Any]:
        """One of them; an empty one if it is not there."""
        return read(self._directory / str(number))

    def add(self, number: int, value: Dict[str, Any]) -> bool:
        """Make the turn of that number; False if another process did."""
        self._directory.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
        path = self._directory / str(number)
        try:
            write(path, value, only_new=True)
        except FileExistsError:
            return read(path) == value  # by ourselves, and the file server's first answer was lost
        return True
