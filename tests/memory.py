"""Temporary files in memory, where a system has room for them: most tests write few bytes, and sync them."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")
#: Bytes that have to be free. All suites together were seen to use a tenth.
_ROOM = 4 << 30


class Folder:
    """The folder of temporary files of this process and its children, until `remove`."""

    def __init__(self) -> None:
        """Make it, unless a person or a parent process has chosen a folder or there is no room in memory."""
        self._path: str | None = None
        if not os.environ.get("TMPDIR") and _has_room():
            self._path = tempfile.mkdtemp(prefix="slipway-tests-", dir=_MEMORY)
            Path(self._path).chmod(0o1777)  # as /tmp: some tests become another user
            os.environ["TMPDIR"] = tempfile.tempdir = self._path
            # Folders of tests that failed stay, to be looked into.
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

    def remove(self) -> None:
        """Remove what this process made."""
        if self._path:
            shutil.rmtree(self._path, ignore_errors=True)


def _has_room() -> bool:
    """Whether files there can be executed, too: some tests write programs."""
    try:
        system = os.statvfs(_MEMORY)
    except OSError:
        return False
    return not system.f_flag & os.ST_NOEXEC and system.f_bavail * system.f_frsize >= _ROOM
