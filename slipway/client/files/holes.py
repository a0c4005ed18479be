"""Writes parts of a file: long zeros become holes, which take no room on the disk."""

import os
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import groupby, islice

#: Parts that every system takes in one write.
_AT_ONCE = 512
#: So many zeros are not written: a block of most disks.
_HOLE = 4096


def write_all(fd: int, parts: Sequence[bytes]) -> None:
    """Write the parts in order, many in one call; long zeros become holes. Raises OSError."""
    for is_hole, some in groupby(parts, _is_hole):
        if is_hole:
            os.lseek(fd, sum(map(len, some)), os.SEEK_CUR)
        else:
            _write_each(fd, some)


def _is_hole(part: bytes) -> bool:
    return len(part) >= _HOLE and not (part[0] or part[-1]) and not part.strip(b"\0")


def _write_each(fd: int, parts: Iterable[bytes]) -> None:
    ahead = deque(memoryview(part) for part in parts if part)
    while ahead:
        written = os.writev(fd, [*islice(ahead, _AT_ONCE)])
        while ahead and written >= len(ahead[0]):
            written -= len(ahead.popleft())
        if written:
            ahead[0] = ahead[0][written:]
