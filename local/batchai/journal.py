"""execution.log: what was done for a job on one node, a line for each step."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path


class Journal:
    """Lines wait until the directory of the file is mounted."""

    def __init__(self, name: str, clock: Callable[[], datetime]) -> None:
        self._name = name
        self._clock = clock
        self._waiting: list[str] = []
        self._file: Path | None = None

    def open(self, directory: Path) -> None:
        """From now on write to the file there."""
        self._file = directory / self._name
        with self._file.open("a") as file:
            file.writelines(self._waiting)
        self._waiting.clear()

    def add(self, text: str) -> None:
        """Add a line with the time."""
        line = f"{self._clock():%Y-%m-%dT%H:%M:%SZ} {text}\n"
        if self._file is None:
            self._waiting.append(line)
            return
        with self._file.open("a") as file:
            file.write(line)
