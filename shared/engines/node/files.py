"""Files on a file system that nodes share, where a job may have put something else in the place of any."""

import errno
import json
import os
import re
import stat
import time
from pathlib import Path
from typing import Any, BinaryIO, Dict

#: Mode of a directory that is its user's alone: records, and what jobs print.
PRIVATE = 0o700
#: No link is followed, and no pipe waited for.
_SAFE = os.O_NOFOLLOW | os.O_NONBLOCK
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))", re.ASCII)


class Displaced(OSError):
    """Where a file should be, there is a link, a pipe, a directory or the like."""


def stamp() -> str:
    """The time now, in UTC, as records and journals write it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def expand(text: str, values: Dict[str, str]) -> str:
    """The text with $NAME and ${NAME} replaced where the name is known."""
    return _VARIABLE.sub(lambda match: values.get(match.group(1) or match.group(2), match.group(0)), text)


def read(path: Path) -> Dict[str, Any]:
    """A JSON object; an empty one if there is none, or none that can be read."""
    try:
        with os.fdopen(_open(path, os.O_RDONLY), encoding="utf-8") as file:
            document = json.load(file)
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def write(path: Path, value: Dict[str, Any], only_new: bool = False) -> None:
    """Whole or not at all, on the disk, and for its user alone.

    Raises FileExistsError where `only_new` and it is there.
    """
    new = path.with_name(f"{path.name}.{os.uname().nodename}.{os.getpid()}")
    with os.fdopen(_open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(value, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    if not only_new:
        new.replace(path)
        return
    try:
        os.link(str(new), str(path))  # atomic on every network file system, which O_EXCL has not always been
    finally:
        new.unlink()


def open_end(path: Path) -> BinaryIO:
    """A file to be added to, made if there is none. Raises Displaced, and OSError."""
    return os.fdopen(_open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab")


def _open(path: Path, flags: int, mode: int = 0o666) -> int:
    displaced = Displaced(errno.EPERM, "No regular file", str(path))
    try:
        descriptor = os.open(str(path), flags | _SAFE, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):  # a link, a pipe or socket, a directory
            raise displaced from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise displaced
    os.set_blocking(descriptor, True)
    return descriptor
