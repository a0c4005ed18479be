"""Directories removed with all that others wrote into them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

_REMOVE, _UNLOCK = ("rm", "-rf", "--"), ("chmod", "-R", "u+rwX", "--")


def remove(directory: Path | str) -> None:
    """Remove a directory, however deep it is, also what its owner made read-only. What cannot be, stays.

    `shutil.rmtree` calls itself for each level before Python 3.13, and holds a descriptor for each since.
    """
    try:
        shutil.rmtree(directory)
    except (OSError, RecursionError):
        for command in (_REMOVE, _UNLOCK, _REMOVE):
            if os.path.lexists(directory):
                subprocess.run([*command, directory], stderr=subprocess.DEVNULL, check=False)
