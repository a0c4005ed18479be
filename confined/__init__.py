"""Files that others could have written, opened below a directory that they cannot move.

`open` follows every link on its way, and what was checked before it may be another thing by then. So each
component is opened relative to the one before it, and none through a link. A link is read and followed here,
as far as it stays below the root. Pipes, sockets and devices are refused: opening one may wait, or do things.

In: a root and a path below it. Out: an open file or directory, entries, or `Refused`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

from confined.entries import Entry, Listing, entry_of, link_of
from confined.names import Names
from confined.way import PASS, SAFE, Circle, Refused, Special, Way, checked

#: Links on one way, as many as Linux follows; and components with those of the links.
_LINKS, _STEPS = 40, 4096
#: Entries of a directory that are listed at once, at most; of a page; and the steps by which the links in one
#: are looked at.
_ENTRIES, PAGE, _LISTED = 100_000, 1_000, 50_000
_ENTRY = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK) | SAFE
#: A pipe that took a file's place a moment ago is not waited for.
_FILE = SAFE | os.O_NONBLOCK | os.O_NOCTTY


class Parent(NamedTuple):
    """The directory of a path, and the path's last name."""

    folder: Confined
    name: str


class _Status(NamedTuple):
    """What stands somewhere, and where that really is."""

    status: os.stat_result
    path: str


class _Opened(NamedTuple):
    """A descriptor, and the names that lead there without any link."""

    fd: int
    names: list[str]


class Confined:
    """A directory, held open. `display` is its path for those who make absolute links to what is below it.

    Without a slash at its beginning, `display` is the last part of that path, with any folders above it.

    Paths are relative, with slashes. All methods raise OSError; Refused is one.
    """

    def __init__(self, fd: int, display: str = "") -> None:
        self.fd, self._display = fd, f"/{display.strip('/')}/" if display.strip("/") else ""
        self._is_tail = not display.startswith("/")

    @classmethod
    def from_root(cls, root: Path | str, display: str = "") -> Self:
        """The operator's own path: links in it are followed."""
        return cls(os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), display)

    @classmethod
    def real(cls, path: Path) -> Confined:
        """A directory by its real path: no link may stand anywhere in it."""
        with cls.from_root("/") as top:
            return top.directory(str(path), links=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)

    def directory(self, path: str, *, links: bool = True, display: str = "") -> Confined:
        """A directory below as a root of its own. Without `links`, none may stand on the way."""
        fd, _ = self._walk(path, PASS, links=links)
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            os.close(fd)
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return Confined(fd, display)

    def make_directory(self, path: str) -> Confined:
        """A directory below, made with those above it where there is none. No link may stand on the way."""
        folder = self.directory(".")
        for name in filter(None, path.split("/")):
            with folder:
                try:
                    folder = folder.directory(name, links=False)
                except FileNotFoundError:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=folder.fd)
                    folder = folder.directory(name, links=False)
        return folder

    def parent(self, path: str, *, links: bool = True) -> Parent:
        """The directory of a path, and the path's last name, of which nothing is known."""
        above, _, name = path.strip("/").rpartition("/")
        if name in ("", ".", ".."):
            raise Refused("the path ends with no name")
        return Parent(self.directory(above, links=links), name)

    def file(self, path: str, *, write: bool = False, links: bool = True) -> BinaryIO:
        """A regular file, to be read, or with `write` to be read and changed."""
        fd, _ = self._walk(path, _FILE | (os.O_RDWR if write else os.O_RDONLY), links=links)
        return os.fdopen(_regular(fd), "r+b" if write else "rb")

    def entries(self, path: str = ".") -> list[Entry]:
        """What is in a directory, by name. Raises Refused for too many."""
        names, entries, following, more = Names(), list[Entry](), "", False
        while len(entries) <= _ENTRIES and not more:
            part, following, more = self.listing(path, names, following, _ENTRIES + 1)
            entries += part
            if not following and not more and len(entries) <= _ENTRIES:
                return entries
        raise Refused(f"the directory has more than {_ENTRIES:,} entries")

    def listing(self, path: str, names: Names, after: str = "", count: int = PAGE) -> Listing:
        """The same in part: `count` of the names after one; `names` keeps what earlier parts have read."""
        fd, above = self._walk(path, PASS, links=True)
        try:
            listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=fd)
        finally:
            os.close(fd)
        try:
            page = names.page(listed, after, count)
            entries = list(self._entries(listed, page.names, above))
            return Listing(entries, page.names[-1] if page.follows else "", page.more and not page.follows)
        finally:
            os.close(listed)

    def _entries(self, listed: int, entries: Sequence[str], names: Sequence[str]) -> Iterator[Entry]:
        steps = iter(range(_LISTED))
        for name in entries:
            path = "/".join((*names, name))
            try:
                status = os.stat(name, dir_fd=listed, follow_symlinks=False)
            except FileNotFoundError:
                continue  # deleted since
            if stat.S_ISLNK(status.st_mode):
                try:
                    status, path = self._stat(path, steps)
                except OSError as error:
                    yield link_of(name, path, status, error)
                    continue
            yield entry_of(name, path, status)

    def _stat(self, path: str, steps: Iterator[int]) -> _Status:
        fd, names = self._walk(path, _ENTRY, links=True, steps=steps)
        try:
            return _Status(os.fstat(fd), "/".join(names))
        finally:
            os.close(fd)

    def _walk(self, path: str, last: int, *, links: bool, steps: Iterator[int] | None = None) -> _Opened:
        """A descriptor opened with the flags `last`, and the names that lead there without any link.

        Each component takes one of `steps`; when they are used up, the path is refused.
        """
        way = Way(self.fd, steps or iter(range(_STEPS)))
        try:
            ahead, followed = deque(checked(path).split("/")), 0
            while ahead:
                way.step()
                name = ahead.popleft()
                if name in ("", "."):
                    continue
                if name == "..":
                    way.climb()
                    continue
                mode = os.stat(name, dir_fd=way.fd, follow_symlinks=False).st_mode
                if stat.S_ISLNK(mode):
                    followed += 1
                    if not links:
                        raise Refused("a link stands on the way")
                    if followed > _LINKS:
                        raise Circle("too many links")
                    target = os.readlink(name, dir_fd=way.fd)
                    if target.startswith("/"):
                        target = self._relative_target(target)
                        way.start()
                    ahead.extendleft(reversed(target.split("/")))
                elif stat.S_ISDIR(mode):
                    way.enter(name, PASS)
                elif not stat.S_ISREG(mode):
                    raise Special("it is neither a file nor a directory")
                elif ahead:
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
                else:
                    way.enter(name, last & ~os.O_DIRECTORY)
        except BaseException:
            os.close(way.fd)
            raise
        return _Opened(way.fd, way.names)

    def _relative_target(self, target: str) -> str:
        """The target of an absolute link from here. Raises Refused."""
        above, own, below = f"{target}/".partition(self._display) if self._display else ("", "", "")
        if own and (self._is_tail or not above):
            return below[:-1]
        raise Refused("a link leads out of the directory")


def _regular(fd: int) -> int:
    """The descriptor, of a regular file: the last look, which nothing can outdate."""
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return fd
    os.close(fd)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise Refused("it is neither a file nor a directory")
