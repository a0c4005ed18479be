"""The names in a directory in their order, page by page; those of a large one are kept for its next page.

A directory of any size costs the memory of a window, and one scan for each window.
"""

from __future__ import annotations

import os
import time
from bisect import bisect_right
from collections.abc import Callable
from itertools import islice
from threading import Lock
from typing import NamedTuple

#: Names of a window, of all windows that are kept, and of a directory that are looked at.
_WINDOW, _NAMES, _MOST = 25_000, 100_000, 1_000_000
#: How the name begins of an entry that stands for what is beyond them.
MORE = "… more than"
#: Nanoseconds in which a directory may change twice without another time of its own.
_RACY = 1_000_000_000


class NamePage(NamedTuple):
    """Some names; whether others follow the last of them, and whether there are some that no page has."""

    names: list[str]
    follows: bool
    more: bool


class _Window(NamedTuple):
    """The first names after `after` of a directory that was changed at `changed`."""

    directory: tuple[int, int]
    changed: int
    after: str
    names: list[str]
    follows: bool
    more: bool

    def page(self, after: str, count: int) -> NamePage:
        """The names after one of them."""
        start = bisect_right(self.names, after)
        names = self.names[start : start + count]
        return NamePage(names, self.follows or start + count < len(self.names), self.more)


class Names:
    """Windows of large directories, the one that was used last at the end. Threads may share them."""

    def __init__(
        self,
        clock: Callable[[], int] = time.time_ns,
        window: int = _WINDOW,
        names: int = _NAMES,
        most: int = _MOST,
    ) -> None:
        """`window`, `names`, `most`: names of a window, of all that are kept, and that are looked at."""
        self._clock, self._lock = clock, Lock()
        self._window, self._all, self._most = window, names, most
        self._windows: list[_Window] = []

    @property
    def rest(self) -> str:
        """The name of an entry that stands for names in no page."""
        return f"{MORE} {self._most:,} entries"

    def page(self, fd: int, after: str, count: int) -> NamePage:
        """At most `count` names after `after` in an open directory; "" is before all. Raises OSError."""
        status = os.fstat(fd)
        directory = (status.st_dev, status.st_ino)
        with self._lock:
            self._windows = [
                one
                for one in self._windows
                if one.directory != directory or one.changed == status.st_mtime_ns
            ]
            for window in self._windows:
                if window.directory == directory and window.after <= after < window.names[-1]:
                    self._windows.remove(window)
                    self._windows.append(window)
                    return window.page(after, count)
        settled = abs(self._clock() - status.st_mtime_ns) > _RACY
        window = _Window(directory, status.st_mtime_ns, after, *_scan(fd, after, self._window, self._most))
        page = window.page(after, count)
        if page.follows and settled:
            with self._lock:
                self._windows.append(window)
                while sum(len(one.names) for one in self._windows) > self._all:
                    del self._windows[0]
        return page


def _scan(fd: int, after: str, window: int, most: int) -> NamePage:
    names: list[str] = []
    follows = False
    with os.scandir(fd) as entries:
        first = (entry.name for entry in islice(entries, most))
        later = (name for name in first if name > after)
        while some := list(islice(later, window)):
            names = sorted(names + some)
            follows = follows or len(names) > window
            del names[window:]
        return NamePage(names, follows, next(entries, None) is not None)
