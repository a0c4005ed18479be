"""rewrite: replaces the content of a person's file, completely or not at all."""

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def rewrite(path: Path, data: bytes) -> None:
    """Replace the content of a file. Mode and owner stay, and so does a link to it. Raises OSError.

    The new content is complete on the disk before it replaces the old one.
    """
    target = path.resolve(strict=True)
    status = target.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not an ordinary file")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            with suppress(PermissionError):  # only root can give files away
                os.fchown(out.fileno(), status.st_uid, status.st_gid)
            os.fchmod(out.fileno(), stat.S_IMODE(status.st_mode))
            out.flush()
            os.fsync(out.fileno())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
