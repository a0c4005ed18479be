"""The errors of the dispatcher. Each class says what its caller does next.

SlipwayError
├── EngineError
│   ├── Transient       outcome unknown: repeat with the same name
│   │   ├── Busy        it answers, but not now: the same
│   │   └── LeftAlone   not even called, because its breaker is open: later
│   ├── Saturated       quota or capacity: wait long; costs no attempt
│   ├── Rejected        the engine will never take this job: fail it
│   ├── Misconfigured   ours to correct: park the job and raise an alarm
│   ├── NotFound        the engine does not know it: wait a grace period, then lost
│   └── Conflict        the name belongs to another job: never overwrite
├── NoTarget            an attempt without the engine-side identity that its state requires
├── Exists              the key is taken: a duplicate, join it
├── Unavailable         storage does not answer: the trigger will be repeated
├── Unreadable          a row holds what this version cannot read: skip it, leave it alone, report it
└── Misuse              a caller's mistake: message, remedy and HTTP status are for a person
"""

from __future__ import annotations


class SlipwayError(Exception):
    """Root of every error that Slipway raises on purpose."""


#: The text for people of an error that Slipway did not raise on purpose.
DEFECT = "a defect of Slipway, which its log describes"


def quoted(error: Exception) -> str:
    """The text of an error for people. Only our own are quoted: others may contain what a person sent."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(error) if isinstance(error, SlipwayError) else DEFECT


class EngineError(SlipwayError):
    """An error of an engine about one job."""


class Transient(EngineError):
    """The outcome is unknown; repeat with the same name."""


class Busy(Transient):
    """It answers, but cannot do this now; repeat with the same name."""


class LeftAlone(Transient):
    """No call was made: the cluster has not answered for a while; try again later."""


class Saturated(EngineError):
    """Quota or capacity is used up; wait long, it costs no attempt."""


class Rejected(EngineError):
    """The engine will never accept this job as it stands."""


class Misconfigured(EngineError):
    """Our own settings, identity or cluster are wrong; park the job and raise an alarm."""


class NotFound(EngineError):
    """The engine does not know this job; not yet evidence that it is lost."""


class NotAFile(NotFound):
    """The requested file is a directory."""


def no_file(path: str, *, is_directory: bool) -> NotFound:
    """The error for a path that is not a file."""
    return NotAFile(f"{path} is a directory") if is_directory else NotFound(f"there is no {path}")


class Conflict(EngineError):
    """The engine-side name belongs to another job; never overwrite it."""


class NoTarget(SlipwayError):
    """A record whose state requires an engine-side identity has none: it is left alone."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"the attempt of {job_id} lacks a target, so its engine cannot be queried for it")


class Exists(SlipwayError):
    """A record with this id exists already; the caller joins it."""


class Unavailable(SlipwayError):
    """Storage did not answer; nothing was decided, and the trigger is repeated."""


class Unreadable(SlipwayError):
    """A row is damaged, or a newer version wrote it: it and the rows that depend on it are left alone.

    `remedy`: what an operator may do.
    """

    def __init__(self, what: str, column: str, remedy: str = "restore it from a backup") -> None:
        super().__init__(f"{what} cannot be read: {column}")
        self.remedy = remedy


class Misuse(SlipwayError):
    """A request that cannot be served; its message is for the caller."""

    def __init__(
        self, message: str, *, status: int = 400, remedy: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.remedy = remedy
        #: Seconds, for 429 and 503.
        self.retry_after = retry_after


def is_answer(error: Exception) -> bool:
    """Whether a cluster answered, though by an error; its breaker counts all others as silence."""
    return isinstance(error, Busy) or (isinstance(error, EngineError) and not isinstance(error, Transient))


def status_of(error: Exception) -> int:
    """The HTTP status for an error, in the API's answer and in the trail."""
    match error:
        case Misuse():
            return error.status
        case Misconfigured():
            return 503
        case EngineError():
            return 502
        case Unreadable():
            return 500
        case SlipwayError():
            return 503
    return 500
