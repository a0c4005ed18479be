"""Where claims and records stand: one small port over a directory that all nodes share, or over blobs.

What is in a place is made whole or not at all; of several that want to make the same new thing, one succeeds.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any, Dict, List

from shared.engines.node.files import PRIVATE, read, write


class Place:
    """A place of named JSON objects; the name of one may begin with that of a place within."""

    name = ""

    def at(self, name: str) -> "Place":
        """A place within."""
        raise NotImplementedError

    def sibling(self, name: str) -> "Place":
        """Another one next to it."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Make it be there, so that it can be written to."""
        raise NotImplementedError

    def names(self) -> List[str]:
        """What is directly within. Raises FileNotFoundError for a place that never was, and OSError."""
        raise NotImplementedError

    def has(self, name: str) -> bool:
        """Whether it is there now, by one look that does not wait. Raises OSError where that is not known."""
        raise NotImplementedError

    def read(self, name: str) -> Dict[str, Any]:
        """A JSON object; an empty one if there is none, or none that can be read."""
        raise NotImplementedError

    def write(self, name: str, value: Dict[str, Any]) -> None:
        """Make it in a place that is there, or put it where one is."""
        raise NotImplementedError

    def add(self, name: str, value: Dict[str, Any]) -> None:
        """Make it. Raises FileExistsError if it is there."""
        raise NotImplementedError

    def reserve(self, name: str) -> None:
        """Make a place within that is new. Raises FileExistsError."""
        raise NotImplementedError

    def release(self, name: str) -> None:
        """Remove a place that was reserved, and in which nothing has been made."""
        raise NotImplementedError


class Directory(Place):
    """A directory on a file system that all nodes share."""

    def __init__(self, path: Path) -> None:
        self._path, self.name = path, path.name

    def __str__(self) -> str:
        return str(self._path)

    def at(self, name: str) -> "Directory":
        """A directory in it, which need not be there."""
        return Directory(self._path / name)

    def sibling(self, name: str) -> "Directory":
        """One with the same parent."""
        return Directory(self._path.with_name(name))

    def prepare(self) -> None:
        """With those above it."""
        self._path.mkdir(parents=True, exist_ok=True, mode=PRIVATE)

    def names(self) -> List[str]:
        """Its entries."""
        # To open a directory makes a network file system ask its server; a name that was not there it may
        # remember for a minute.
        return [entry.name for entry in self._path.iterdir()]

    def has(self, name: str) -> bool:
        """By its entries, for the same reason."""
        with suppress(FileNotFoundError):
            return name in self.names()
        return False

    def read(self, name: str) -> Dict[str, Any]:
        """A file in it."""
        return read(self._path / name)

    def write(self, name: str, value: Dict[str, Any]) -> None:
        """A file, by renaming."""
        write(self._path / name, value)

    def add(self, name: str, value: Dict[str, Any]) -> None:
        """A file, by a link."""
        write(self._path_for_new(name), value, only_new=True)

    def reserve(self, name: str) -> None:
        """A directory."""
        self._path_for_new(name).mkdir(mode=PRIVATE)

    def release(self, name: str) -> None:
        """The empty directory."""
        (self._path / name).rmdir()

    def _path_for_new(self, name: str) -> Path:
        path = self._path / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
        return path
