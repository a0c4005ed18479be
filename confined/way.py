"""One walk from a root down: a descriptor for each step, and never through a link."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

SAFE = os.O_NOFOLLOW | os.O_CLOEXEC
#: To pass through a directory, the right to list it is not needed.
PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | SAFE


class Refused(PermissionError):
    """The path leads out of its root, or to what is neither file nor directory."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EPERM, reason)


class Special(Refused):
    """It leads to what is neither file nor directory."""


class Circle(Refused):
    """It leads through more links than any path has that ends."""


class Way:
    """Where a walk has come to: one descriptor, and the names of the directories down to it."""

    def __init__(self, root: int, steps: Iterator[int]) -> None:
        self._root, self._steps = root, steps
        self.fd, self.names = os.dup(root), list[str]()

    def step(self) -> None:
        """Count: what a job made must end."""
        if next(self._steps, None) is None:
            raise Refused("the path is too long")

    def enter(self, name: str, flags: int) -> None:
        """Go down, never through a link."""
        try:
            before, self.fd = self.fd, os.open(name, flags, dir_fd=self.fd)
        except OSError as error:
            if error.errno == errno.ELOOP:  # since the look at it
                raise Refused("a link stands on the way") from None
            raise
        os.close(before)
        self.names.append(name)

    def climb(self) -> None:
        """Go up, from the root on: where `..` of a directory leads may have changed."""
        names = self.names[:-1]
        if not self.names:
            raise Refused("the path leads out of the directory")
        self.start()
        for name in names:
            self.step()
            self.enter(name, PASS)

    def start(self) -> None:
        """Go back to the root."""
        before, self.fd = self.fd, os.dup(self._root)
        os.close(before)
        self.names = []


def checked(path: str) -> str:
    """The path itself. Raises Refused where no file can have such a name."""
    try:
        if b"\0" not in os.fsencode(path):
            return path
    except UnicodeEncodeError:
        pass
    raise Refused("no path has such characters")
