"""Directories so deep that no path leads to their end."""

from __future__ import annotations

import os
from pathlib import Path


def make_deep(root: Path, name: str, levels: int, file: str = "") -> None:
    """Make `levels` directories, each in the one before, and in each an empty file by that name, if any."""
    fd = os.open(root, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=fd)
        below = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
        if file:
            os.close(os.open(file, os.O_WRONLY | os.O_CREAT, dir_fd=fd))
    os.close(fd)
