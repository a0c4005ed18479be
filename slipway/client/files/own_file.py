"""A file that says what becomes of its folder: it counts, or is refused, and is never passed over."""

import os
import stat
from pathlib import Path

from slipway.failure import Failure

_KINDS = {stat.S_IFSOCK: "a socket", stat.S_IFIFO: "a pipe", stat.S_IFDIR: "a folder"}


def own_file(folder: Path, name: str) -> Path | None:
    """The file; None if nothing has its name. Raises Failure for what has it and is not a file."""
    file = folder / name
    if file.is_file():
        return file
    if os.path.lexists(file):
        raise Failure(f"{file} is {kind_of(file)}; put the file itself there, or take it away")
    return None


def kind_of(path: Path) -> str:
    """What is there in place of a file."""
    try:
        return _KINDS.get(stat.S_IFMT(path.stat().st_mode), "a device")
    except OSError:
        return "a link that leads nowhere"
