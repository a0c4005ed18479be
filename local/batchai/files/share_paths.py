"""Where a request to the File service leads: a share, and a path in it that leaves it by no link."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from aiohttp import web

from confined import Confined


class FileError(Exception):
    """A refusal in the form of the storage services."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True)
class Item:
    """The object of a request: a share, or a path in one.

    Links that jobs made there do not lead out of it.
    """

    request: web.Request
    share: Path
    path: str

    @contextmanager
    def parent(self) -> Iterator[tuple[int, str]]:
        """A descriptor of the directory that the path is in, and its name there. Raises OSError."""
        with Confined.from_root(self.share) as share:
            parent, name = share.parent(self.path)
            with parent:
                yield parent.fd, name

    def file(self, *, write: bool = False) -> BinaryIO:
        """The file, opened for reading. Raises OSError."""
        with Confined.from_root(self.share) as share:
            return share.file(self.path, write=write)

    def create(self) -> BinaryIO:
        """The file, which is made if it is not there. Raises OSError."""
        try:
            return self.file(write=True)
        except FileNotFoundError:
            with self.parent() as (parent, name):
                flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                return os.fdopen(os.open(name, flags, 0o666, dir_fd=parent), "r+b")


@contextmanager
def not_found_as_404(code: str = "ResourceNotFound") -> Iterator[None]:
    """Answer 404 for an entry that is missing or of the wrong kind."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        what = "parent path" if code == "ParentNotFound" else "resource"
        raise FileError(404, code, f"The specified {what} does not exist.") from None
