"""A directory below which files of a job are written. The job chose their names: none may lead out of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from confined import Confined
from slipway.client.files.names import Neighbours, impossible
from slipway.client.files.remote import Remote
from slipway.failure import Failure

#: Folders that are held open: few are enough, as files come in order of name.
_FOLDERS = 16


class Tail(NamedTuple):
    """The size of a file, and its last bytes."""

    size: int
    data: bytes


class Places:
    """The directory, made where there is none, with the place of each file in it."""

    def __init__(self, path: Path) -> None:
        self._folders = dict[str, Confined]()
        with savable(path):
            path.mkdir(parents=True, exist_ok=True)
            self._root = Confined.from_root(path)
            self._names = Neighbours(
                ignores_case=self._is_one("a", "A"), ignores_composition=self._is_one("\u00e9", "e\u0301")
            )

    def close(self) -> None:
        """Release the directory."""
        for folder in (self._root, *self._folders.values()):
            os.close(folder.fd)

    def tail(self, file: Remote, most: int) -> Tail | None:
        """The end of what was saved of the file; None if nothing was. Raises OSError, and Failure."""
        try:
            with self._folder(file, make=False) as (folder, name), folder.file(name, links=False) as stream:
                size = os.fstat(stream.fileno()).st_size
                stream.seek(max(0, size - most))
                return Tail(size, stream.read(min(size, most)))
        except FileNotFoundError:
            return None

    def put(self, file: Remote, at: int, data: bytes) -> None:
        """Write bytes into the file where it lies: who has it open sees them. Raises OSError, and Failure."""
        with self._folder(file, make=True) as (folder, name):
            if not at:
                flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                os.close(os.open(name, flags, 0o666, dir_fd=folder.fd))
            with folder.file(name, write=True, links=False) as stream:
                stream.seek(at)
                stream.write(data)

    @contextmanager
    def _folder(self, file: Remote, *, make: bool) -> Iterator[tuple[Confined, str]]:
        if conflict := self._names.conflict(file.name):
            raise Failure(conflict)
        *above, name = file.name.split("/")
        for one in (*above, name):
            if reason := impossible(one):
                raise Failure(reason)
        with self._open("/".join(above), make=make) as folder:
            yield folder, name

    def _open(self, path: str, *, make: bool) -> Confined:
        """A folder, with a descriptor kept open: further files in it need no new walk."""
        folder = self._folders.pop(path, None)
        if folder is None:
            folder = self._root.make_directory(path) if make else self._root.directory(path, links=False)
        self._folders[path] = folder
        if len(self._folders) > _FOLDERS:
            os.close(self._folders.pop(next(iter(self._folders))).fd)
        return Confined(os.dup(folder.fd))

    def _is_one(self, letter: str, other: str) -> bool:
        """Whether the disk takes names that differ like these for the same."""
        probe, alike = (f".slipway-{os.getpid()}-{one}".encode() for one in (letter, other))
        try:
            os.close(os.open(probe, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o600, dir_fd=self._root.fd))
        except OSError:
            if letter.isascii():
                raise
            return False  # it takes no such name at all
        try:
            os.stat(alike, dir_fd=self._root.fd)
        except FileNotFoundError:
            return False
        else:
            return True
        finally:
            os.unlink(probe, dir_fd=self._root.fd)


@contextmanager
def savable(path: Path) -> Iterator[None]:
    """Say of an error in this block that nothing can be saved there. Raises Failure."""
    try:
        yield
    except OSError as error:
        raise Failure(f"nothing can be saved in {path}: {error.strerror}; choose another by --to") from error
