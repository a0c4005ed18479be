"""Directories removed with all that others wrote into them."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path


def remove(directory: Path | str) -> bool:
    """Remove a directory, however deep, with those in it that its owner made read-only.

    Returns whether nothing is left. Not by `shutil.rmtree`, which calls itself for each level before Python
    3.13, and holds a descriptor for each since.
    """
    path = str(directory)
    unlock = ("find", path, "-type", "d", "!", "-perm", "-700", "-exec", "chmod", "u+rwx", "{}", ";")
    for command in (("rm", "-rf", path), unlock, ("rm", "-rf", path)):
        if _is_gone(path):
            break
        with suppress(OSError):  # a machine without that program
            subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return _is_gone(path)


def _is_gone(path: str) -> bool:
    """Whether nothing is there; what a closed directory hides may be."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
