"""execution.log: what was done for a job on one node, one line for each step."""

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from confined import Confined


class Journal:
    """Keeps lines until the directory of the file is mounted. Follows no link that a job made."""

    def __init__(self, name: str, clock: Callable[[], datetime]) -> None:
        self._name = name
        self._clock = clock
        self._waiting: list[str] = []
        self._directory: Path | None = None

    def open(self, directory: Path) -> None:
        """From now on, write to the file in this directory, given by its real path."""
        self._directory = directory
        _add_lines(directory, self._name, self._waiting)
        self._waiting.clear()

    def add(self, text: str) -> None:
        """Add a line with the time."""
        line = f"{self._clock():%Y-%m-%dT%H:%M:%SZ} {text}\n"
        if self._directory is None:
            self._waiting.append(line)
        else:
            _add_lines(self._directory, self._name, [line])

    def add_beside(self, name: str, text: str) -> None:
        """Add a line to another file of the directory, if there are both."""
        if text and self._directory is not None:
            _add_lines(self._directory, name, [f"{text}\n"])


def _add_lines(directory: Path, name: str, lines: Sequence[str]) -> None:
    """Add lines to a file in a directory, given by its real path. Raises OSError where a job put a link."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with (
        Confined.real(directory) as folder,
        os.fdopen(os.open(name, flags, 0o666, dir_fd=folder.fd), "a") as file,
    ):
        file.writelines(lines)
