"""Directories so deep that no path leads to their end."""

from __future__ import annotations

import os
from pathlib import Path


def make_deep(root: Path, name: str, levels: int, file: str = "") -> None:
    """Make `levels` directories, each in the one before; `file`: in each, the number of its level."""
    fd = os.open(root, os.O_RDONLY)
    for level in range(1, levels + 1):
        os.mkdir(name, dir_fd=fd)
        below = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
        if file:
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT, dir_fd=fd), "w") as opened:
                opened.write(str(level))
    os.close(fd)
