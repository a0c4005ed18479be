"""The store of claims and records: one small port over a directory that all nodes share, or over blobs.

An object is written whole or not at all; of several writers of the same new object, one succeeds.
"""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, TypeVar

from shared.engines.node.files import PRIVATE, Displaced, load, unlock, write
from shared.engines.node.proof import Proof

_Result = TypeVar("_Result")
#: The name of a turn.
_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)


def numbers_of(names: Iterable[str]) -> List[int]:
    """The numbers of turns among these names, the newest first."""
    return sorted((int(name) for name in names if _NUMBER.fullmatch(name)), reverse=True)


class Store:
    """A store of named JSON objects; a name may begin with that of a store within.

    It proves what it writes by `proof`, and reads what that proves.
    """

    name = ""
    #: whether jobs can write there as well
    is_open_to_jobs = False

    def __init__(self, proof: Proof) -> None:
        self.proof = proof

    def child(self, name: str) -> "Store":
        """A store within."""
        raise NotImplementedError

    def sibling(self, name: str, proof: Proof) -> "Store":
        """Another one next to it, with a proof of its own."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Create the store, so that it can be written to."""
        raise NotImplementedError

    def names(self) -> List[str]:
        """The names directly within. Raises FileNotFoundError for a store that never existed, and OSError."""
        raise NotImplementedError

    def has(self, name: str) -> bool:
        """Whether an object exists now, by one check that does not wait.

        Raises OSError if that is not known.
        """
        raise NotImplementedError

    def numbers_after(self, number: int) -> Iterator[int]:
        """The numbers above that one that objects have as names, by checks that do not wait.

        Raises OSError if that is not known.
        """
        raise NotImplementedError

    def load(self, name: str, waits: bool = True) -> bytes:
        """The text of an object; an empty one if there is none. Raises OSError if that is not known.

        `waits`: until a storage that is away answers again.
        """
        raise NotImplementedError

    def save(self, name: str, text: bytes, only_new: bool = False) -> None:
        """Write the text of an object in an existing store. Raises FileExistsError if `only_new` is set."""
        raise NotImplementedError

    def read(self, name: str, waits: bool = True) -> Dict[str, Any]:
        """Read an object; an empty one if there is none that is proven. Raises OSError as `load` does."""
        return self.proof.value(name, self.load(name, waits))

    def write(self, name: str, value: Dict[str, Any]) -> None:
        """Write an object in an existing store, or replace one."""
        self.save(name, self.proof.text(name, value))

    def add(self, name: str, value: Dict[str, Any]) -> None:
        """Write a new object. Raises FileExistsError if it exists."""
        self.save(name, self.proof.text(name, value), only_new=True)

    def reserve(self, name: str) -> None:
        """Make a new store within. Raises FileExistsError."""
        raise NotImplementedError

    def release(self, name: str) -> None:
        """Remove a store that was reserved and is still empty."""
        raise NotImplementedError


class Directory(Store):
    """A directory on a file system that all nodes share."""

    is_open_to_jobs = True

    def __init__(self, path: Path, proof: Optional[Proof] = None) -> None:
        super().__init__(proof or Proof())
        self._path, self.name = path, path.name

    def __str__(self) -> str:
        return str(self._path)

    def child(self, name: str) -> "Directory":
        """A directory in it, which need not exist."""
        return Directory(self._path / name, self.proof.child(name))

    def sibling(self, name: str, proof: Proof) -> "Directory":
        """Another directory with the same parent."""
        return Directory(self._path.with_name(name), proof)

    def prepare(self) -> None:
        """Create it, with its parents."""
        self._path.mkdir(parents=True, exist_ok=True, mode=PRIVATE)

    def names(self) -> List[str]:
        """Its entries."""
        # Opening a directory makes a network file system ask its server; otherwise it may remember a missing
        # name for a minute.
        return self._opened(lambda: [entry.name for entry in self._path.iterdir()])

    def has(self, name: str) -> bool:
        """Whether it is among the entries, for the same reason."""
        with suppress(FileNotFoundError):
            return name in self.names()
        return False

    def numbers_after(self, number: int) -> Iterator[int]:
        """Those of its entries, also above one that a job removed."""
        with suppress(FileNotFoundError):
            yield from (one for one in numbers_of(self.names()) if one > number)

    def load(self, name: str, waits: bool = True) -> bytes:
        """Read a file in it; what stands in the place of one is none."""
        with suppress(FileNotFoundError, NotADirectoryError, Displaced):
            return self._opened(lambda: load(self._path / name), name)
        return b""

    def save(self, name: str, text: bytes, only_new: bool = False) -> None:
        """Write a file, by renaming; a new one by a link."""
        self._opened(
            lambda: write(self._path_for_new(name) if only_new else self._path / name, text, only_new)
        )

    def reserve(self, name: str) -> None:
        """A directory."""
        self._opened(lambda: self._path_for_new(name).mkdir(mode=PRIVATE))

    def release(self, name: str) -> None:
        """Remove the empty directory."""
        (self._path / name).rmdir()

    def _opened(self, work: Callable[[], _Result], name: str = ".") -> _Result:
        """Do something here, the second time with the rights that a job may have taken away."""
        try:
            return work()
        except PermissionError:
            for path in (self._path.parent, self._path, self._path / name):
                unlock(path)
        return work()

    def _path_for_new(self, name: str) -> Path:
        path = self._path / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
        return path
