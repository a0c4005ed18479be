"""Which part of a job's logs a person asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slipway.failure import UNKNOWN, USAGE, Failure


@dataclass(frozen=True)
class Selection:
    """The selected part of the logs."""

    #: one file, such as stderr.txt; else the streams of every process, or of one
    file: str = ""
    rank: str = ""
    #: stdout or stderr, which is then printed to standard output; "" for both
    stream: str = ""
    #: one attempt; 0 for the current one
    attempt: int = 0
    #: how many of the last matching lines of each file; None for all
    tail: int | None = None

    def __post_init__(self) -> None:
        """Raise Failure for options that exclude each other."""
        if self.file and (self.rank or self.stream):
            what = "a rank" if self.rank else "a stream"
            raise Failure(f"a file and {what} exclude each other: the name of the file has {what[2:]}")
        if self.stream not in ("", "stdout", "stderr"):
            raise Failure(f"{self.stream!r} is not a stream: stdout or stderr, or neither for both")
        if self.attempt < 0:
            raise Failure(f"there is no attempt {self.attempt}; the first is 1", UNKNOWN)
        if self.tail is not None and self.tail < 0:
            raise Failure(f"--tail cannot be {self.tail}; give 0 or more", USAGE)

    def check(self, job: Mapping[str, Any]) -> None:
        """Raise Failure for an attempt that the job has not had."""
        if self.attempt > (many := job.get("attempt", 1)):
            raise Failure(f"the job has had {many} attempt{'s' * (many > 1)}; name one of them")

    def check_follow(self, *, follow: bool) -> None:
        """Raise Failure for one attempt of a job that is followed."""
        if follow and self.attempt:
            raise Failure("a job is followed through its attempts as they come; leave out the attempt")


def stream_of(*, stdout: bool, stderr: bool) -> str:
    """The one stream that is asked for; "" for both."""
    return "" if stdout == stderr else "stdout" if stdout else "stderr"
