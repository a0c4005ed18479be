"""What a command raises when it cannot go on for a reason that a person can mend, and of which kind it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

#: The exit code of a command that could not find out how a job ended, as of `docker run` and `timeout` for
#: their own errors: 1 would say that the job failed.
NOT_KNOWN = 125


class Kind(NamedTuple):
    """A kind of error: its word for programs, and what a command with `--json` ends with."""

    code: str
    exit_code: int
    meaning: str


UNSUCCESSFUL = Kind(
    "unsuccessful",
    1,
    "the same, where the command has nothing to print, as for a folder in which nothing would run",
)
USAGE = Kind("usage", 2, "the words of the command line")
REJECTED = Kind("rejected", 3, "what was sent cannot run, or does not fit what is there now")
UNKNOWN = Kind("unknown", 4, "the job, the sweep, the file or another thing by its name is not there")
NOT_ALLOWED = Kind("not-allowed", 5, "the key or the token is refused, or does not allow this")
OVER_LIMIT = Kind("over-limit", 6, "more than a quota, a budget or a limit of the deployment allows")
LOCAL = Kind("local", 7, "a file, a setting or a program of this machine")
INTERNAL = Kind("internal", 70, "a defect of the command; standard error has its traceback")
NO_ANSWER = Kind("no-answer", NOT_KNOWN, "no answer, or one that says to try again")
#: The kinds, in the order of docs/reference/cli.md.
KINDS = (UNSUCCESSFUL, USAGE, REJECTED, UNKNOWN, NOT_ALLOWED, OVER_LIMIT, LOCAL, INTERNAL, NO_ANSWER)


class Failure(Exception):
    """One line for a person: what is wrong, and what to do about it."""

    kind = LOCAL
    #: the exit code of a command without `--json`
    exit_code = 1
    #: whether the same command may succeed later
    retry = False
    #: what to do, where it does not simply follow the first semicolon
    remedy = ""

    def __init__(self, text: str, kind: Kind | None = None, *, remedy: str = "") -> None:
        super().__init__(text)
        self.kind = kind or self.kind
        self.remedy = remedy

    def for_programs(self) -> dict[str, object]:
        """The error as `--json` prints it."""
        first, newline, more = str(self).partition("\n")
        if self.remedy:
            text, remedy = first.removesuffix(f"; {self.remedy}"), self.remedy
        else:
            text, _, remedy = first.partition("; ")
        return {"code": self.kind.code, "text": text + newline + more, "remedy": remedy, "retry": self.retry}


class Verdict(Failure):
    """What a command has found out, such as how a job ended."""

    kind = UNSUCCESSFUL


class Usage(Failure):
    """What is wrong with the words of a command line."""

    kind = USAGE
    exit_code = 2


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
