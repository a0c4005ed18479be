"""The program that reads what a command prints, such as `head`."""

import select
import sys
from typing import BinaryIO


def check_reader(stream: BinaryIO) -> None:
    """Raise BrokenPipeError if nothing reads the pipe any more, also while there is nothing to write.

    Windows says it only to one that writes.
    """
    if sys.platform == "win32":
        return
    poll = select.poll()
    try:
        poll.register(stream, 0)
    except (OSError, TypeError, ValueError):  # not a file of the system, as in a notebook
        return
    if any(event & select.POLLERR for _, event in poll.poll(0)):
        raise BrokenPipeError
