"""Files on a shared file system, where a job may have replaced any file by something else."""

import errno
import os
import re
import shutil
import stat
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Dict, Optional

#: The mode of a directory that only its user may enter: it holds records, and the output of jobs.
PRIVATE = 0o700
#: The variables of the job's directories with that mode: a checkpoint is code to who loads it.
CLOSED = ("AZ_BATCHAI_STDOUTERR_DIR", "SLIPWAY_SAVED")
#: The most bytes of a record that are read; real ones have some hundred.
_LARGEST = 1 << 20
#: The most bytes of a journal that are read for the reason of a failure.
_END = 16 << 10
#: Follows no link, and waits for no pipe.
_SAFE = os.O_NOFOLLOW | os.O_NONBLOCK
#: The errors of a file system without hard links, and the remedy for the person who chose it.
_WITHOUT_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)
_LINKLESS = (
    "This volume has no hard links, as over SMB. Jobs need NFS for `shared`, such as Azure Files by NFS"
)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))", re.ASCII)


class Displaced(OSError):
    """There is a link, a pipe, a directory or the like in place of a file."""


def stamp(at: Optional[float] = None) -> str:
    """A time in UTC, by default the current one, in the form of records and journals."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def expand(text: str, values: Dict[str, str]) -> str:
    """The text, with $NAME and ${NAME} replaced if the name is known."""
    return _VARIABLE.sub(lambda match: values.get(match.group(1) or match.group(2), match.group(0)), text)


def load(path: Path) -> bytes:
    """Read a file, up to a size that none of ours has. Raises Displaced, and OSError."""
    with os.fdopen(_open(path, os.O_RDONLY), "rb") as file:
        return file.read(_LARGEST)


def load_end(path: Path) -> str:
    """The end of a journal; "" if it cannot be read."""
    try:
        with os.fdopen(_open(path, os.O_RDONLY), "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _END))
            return file.read(_END).decode(errors="replace")
    except OSError:
        return ""


def write(path: Path, text: bytes, only_new: bool = False) -> None:
    """Write a file whole or not at all, synced to disk, and readable for its user only.

    Raises FileExistsError if it exists and `only_new` is set, and any other OSError.
    """
    new = path.with_name(f"{path.name}.{os.uname().nodename}.{os.getpid()}")
    with os.fdopen(_open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    if not only_new:
        new.replace(path)
        return
    try:
        os.link(str(new), str(path))  # atomic on every network file system, unlike O_EXCL on old ones
    except OSError as error:
        if error.errno in _WITHOUT_LINKS:
            raise OSError(error.errno, _LINKLESS, str(path)) from None
        raise
    finally:
        new.unlink()


def unlock(path: Path) -> None:
    """Give its user all rights to a directory or file, which a job may have taken away. Never raises."""
    with suppress(OSError):
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) | (PRIVATE if stat.S_ISDIR(mode) else 0o600))


def open_end(path: Path) -> BinaryIO:
    """Open a file for appending; it is created if missing. Raises Displaced, and OSError."""
    return os.fdopen(_open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab")


def remove(directory: str) -> None:
    """Remove a directory, however deep, with those in it that its owner made read-only.

    Python may not go deeper than 1,000 levels, or open so many descriptors. Raises OSError if anything stays.
    """
    if Path(directory).is_dir() and not Path(directory).is_symlink():  # opening a pipe would wait
        with suppress(OSError, RecursionError):
            shutil.rmtree(directory)
    unlock = ["find", directory, "-type", "d", "!", "-perm", "-700", "-exec", "chmod", "u+rwx", "{}", ";"]
    for command in (["rm", "-rf", directory], unlock, ["rm", "-rf", directory]):
        if _is_gone(directory):
            return
        process = subprocess.Popen(command, stderr=subprocess.PIPE)
        _, reason = process.communicate()
    if not _is_gone(directory):
        raise OSError(reason.decode(errors="replace").strip().rpartition("\n")[2])


def _is_gone(path: str) -> bool:
    """Whether nothing is there; what a closed directory hides may be."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _open(path: Path, flags: int, mode: int = 0o666) -> int:
    displaced = Displaced(errno.EPERM, "Not a regular file", str(path))
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
