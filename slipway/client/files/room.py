"""Whether files may be downloaded without a question: their sizes, and the room on the disk.

A job may write a file of terabytes that holds nothing.
"""

import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from slipway.client.files.remote import Remote
from slipway.failure import Failure

#: Bytes of a download from which on a person is asked.
ASKS_ABOVE = 100 * 10**9


class TooLarge(Failure):
    """The files are larger than what is downloaded without a question, or than the disk."""


def _free(folder: Path) -> int:
    absolute = folder.absolute()
    existing = next(one for one in (absolute, *absolute.parents) if one.exists())
    return shutil.disk_usage(existing).free


class Room:
    """The sum of the files that are about to be saved in a folder; `bound` None: only the disk counts."""

    def __init__(
        self, folder: Path, bound: int | None = ASKS_ABOVE, free: Callable[[Path], int] = _free
    ) -> None:
        self._folder, self._bound = folder, bound
        self._free, self._sum = free(folder), 0

    def expect(self, files: Iterable[Remote]) -> None:
        """Note further files, before any of them is read. Raises TooLarge."""
        self.take(sum(max(0, file.size - self._present(file)) for file in files))

    def take(self, count: int) -> None:
        """Note further bytes, before they are saved. Raises TooLarge."""
        total = self._sum + count
        if total > self._free:
            raise TooLarge(f"the files have {_shown(total)}, and the disk has {_shown(self._free)} free")
        if self._bound is not None and total > self._bound:
            raise TooLarge(f"the files have {_shown(total)} or more, of {_shown(self._free)} that are free")
        self._sum = total

    def _present(self, file: Remote) -> int:
        """Bytes of a file of that name and size, which is probably the same."""
        with suppress(OSError, ValueError):
            size = (self._folder / file.name).stat(follow_symlinks=False).st_size
            return size if size == file.size else 0
        return 0


def _shown(size: int) -> str:
    return f"{size / 1e12:,.1f} TB" if size >= 10**12 else f"{size / 1e9:,.1f} GB"
