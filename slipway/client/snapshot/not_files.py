"""What of a folder a container does not hold: what is not a file, and folders without any."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from slipway.client.files.own_file import kind_of

EMPTY = "it is an empty folder"


def not_files(folder: Path, is_left_out: Callable[[str], bool]) -> dict[str, str]:
    """Each with the reason, but for links to folders, and what is left out by its name."""
    reasons = dict[str, str]()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() and not is_left_out(name) and (reason := _reason(path)):
            reasons[name] = reason
    return reasons


def _reason(path: Path) -> str:
    if path.is_dir():
        return "" if path.is_symlink() or _has_entries(path) else EMPTY
    leads = "a link to " if path.is_symlink() and path.exists() else ""
    return f"it is {leads}{kind_of(path)}"


def _has_entries(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is not None
    except OSError:
        return True  # one that cannot be read
