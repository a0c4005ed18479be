"""What a command raises when it cannot go on for a reason that a person can mend; how a command ends."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from slipway.terminal.screen import say

#: The exit code of a command that could not find out how a job ended, as of `docker run` and `timeout` for
#: their own errors: 1 would say that the job failed.
NOT_KNOWN = 125
#: That of one that was stopped since no one reads on: what a shell says of SIGPIPE.
READER_GONE = 141


class Failure(Exception):
    """One line for a person: what is wrong, and what to do about it."""

    #: the exit code of the command
    exit_code = 1


class Verdict(Failure):
    """What a command has found out, such as how a job ended."""


@contextmanager
def finding_out(code: int = NOT_KNOWN) -> Iterator[None]:
    """Give the failures of this block that exit code: what they were to find out stays unknown."""
    try:
        yield
    except Verdict:
        raise
    except Failure as failure:
        failure.exit_code = code
        raise


def exit_code(command: Callable[[], object]) -> int:
    """Run the command line, and return its exit code; an expected failure is one line on standard error.

    A reader that closes the pipe (`| head -1`) stops a command; the code of one that has ended stays.
    """
    out = sys.stdout
    try:
        code = _code_of(command, out)
        if out:
            try:
                out.flush()
            except BrokenPipeError:
                _abandon_output()
    except BrokenPipeError:
        _abandon_output()
        code = READER_GONE
    except OSError as error:
        with suppress(OSError):
            say(f"{error.filename or 'the output'}: {error.strerror or error}")
        _abandon_output()
        code = 1
    return code


def _code_of(command: Callable[[], object], out: object) -> int:
    try:
        command()
    except Failure as failure:
        with suppress(BrokenPipeError):
            say(str(failure))
        return failure.exit_code
    except SystemExit as end:
        if sys.stdout is not out:  # typer has met the closed pipe, and put another output there
            raise BrokenPipeError from end
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _abandon_output() -> None:
    """What could not be written is not tried again by the interpreter's last flush."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
