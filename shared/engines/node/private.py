"""What a program on a node gets and no other process sees: not its environment, which stays readable.

The environment with which a process starts can be read in /proc by every process of its user, also after the
program has removed a variable. So a program starts itself anew without those, and gets them by a file that
has no name. Other programs get such a file as their standard input from the beginning.
"""

import json
import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Dict, Tuple

#: The variable with the number of the open file, between the two starts of a program.
HELD = "SLIPWAY_HELD"
#: `prctl`: the memory and the environment of this process are closed to others of its user, but not to root.
_PR_SET_DUMPABLE = 4


def take(names: Tuple[str, ...]) -> Dict[str, str]:
    """The values of these variables, which the environment of this process does not show from now on.

    Starts the program anew, so it comes first.
    """
    if HELD not in os.environ:
        values = {name: os.environ.pop(name) for name in names if name in os.environ}
        descriptor = holding(json.dumps(values))
        os.set_inheritable(descriptor, True)
        os.environ[HELD] = str(descriptor)
        os.execv(sys.executable, [sys.executable, "-I", *sys.argv])  # noqa: S606 - this very program
    close_memory()
    with os.fdopen(int(os.environ.pop(HELD)), "rb") as file:
        return dict(json.loads(file.read().decode()))


def private_input() -> str:
    """What this process got by its standard input; "" if that is not a file. Closes its memory."""
    if not stat.S_ISREG(os.fstat(0).st_mode):
        return ""
    close_memory()
    with os.fdopen(os.dup(0), "rb") as file:
        return file.read().decode()


def holding(text: str) -> int:
    """The descriptor of a file without a name that has this text, from its beginning."""
    descriptor = _nameless()
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(text.encode())
        file.seek(0)
    return descriptor


def opened(text: str) -> BinaryIO:
    """The standard input of a program that gets this text, and "" for nothing."""
    return os.fdopen(holding(text), "rb") if text else Path(os.devnull).open("rb")


def _nameless() -> int:
    with suppress(OSError, AttributeError):  # an old kernel, an old Python
        return os.memfd_create("private")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def close_output() -> None:
    """Let no other user read what this process prints: the scheduler may have created it readable for all."""
    for number in (1, 2):
        if stat.S_ISREG(os.fstat(number).st_mode):
            os.fchmod(number, 0o600)


def close_memory() -> None:
    """Let no other process read the memory of this one, unless it is root's. Never raises."""
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
