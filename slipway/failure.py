"""What a command raises when it cannot go on for a reason that a person can mend."""

from collections.abc import Iterator
from contextlib import contextmanager

#: The exit code of a command that could not find out how a job ended, as of `docker run` and `timeout` for
#: their own errors: 1 would say that the job failed.
NOT_KNOWN = 125


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
