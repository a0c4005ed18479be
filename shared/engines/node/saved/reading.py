"""How a file is read whose job may write to it: whole as it was listed, or as it was at one moment."""

import hashlib
import io
import os
from typing import BinaryIO, Optional, Tuple

from shared.engines.node.saved.folder import Status, status_of
from shared.engines.node.saved.generations import FILE, Entry

#: How often a small file that is written all the time is read until one moment of it is whole.
READINGS = 5


class Hashed:
    """A file that is read once, from its beginning, with the SHA-256 of what was read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.digest, self.count = file, hashlib.sha256(), 0

    @property
    def status(self) -> Status:
        """Its status now."""
        return status_of(os.fstat(self._file.fileno()))

    def read(self, count: int) -> bytes:
        """The next bytes."""
        data = self._file.read(count)
        self.digest.update(data)
        self.count += len(data)
        return data

    def is_whole(self, status: Status) -> bool:
        """Whether all of it was read, and it still has that status."""
        return self.count == status.size and self.status == status


class Grown(Hashed):
    """The beginning of a file, as long as it was; what was saved before has to be the beginning of that."""

    def __init__(self, file: BinaryIO, status: Status, before: Entry) -> None:
        super().__init__(file)
        self._size, self._before, self._has_before = status.size, before, before.size == 0

    def read(self, count: int) -> bytes:
        """The next bytes, up to the end of what was saved, or of what it had."""
        end = self._before.size if self.count < self._before.size else self._size
        data = super().read(min(count, end - self.count))
        if self.count == self._before.size and data:
            self._has_before = self.digest.hexdigest() == self._before.text
        return data

    def is_whole(self, status: Status) -> bool:
        """Whether it has only grown."""
        now = self.status
        has_grown = (now.kind, now.inode) == (status.kind, status.inode) and now.size >= status.size
        return self._has_before and self.count == self._size and has_grown


class Frozen(Hashed):
    """A content that was read already."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))

    def is_whole(self, status: Status) -> bool:
        """It is."""
        return True


def at_one_moment(descriptor: int) -> Optional[Tuple[Status, bytes]]:
    """A small file with its status, whole; of one that only grows, its beginning. None if that fails."""
    for _ in range(READINGS):
        status = status_of(os.fstat(descriptor))
        if status.kind != FILE:
            return None
        data = os.pread(descriptor, status.size, 0)
        now = status_of(os.fstat(descriptor))
        has_grown = now.size >= status.size and os.pread(descriptor, status.size, 0) == data
        if len(data) == status.size and (now == status or has_grown):
            return status, data
    return None
