"""The parts of a job's record. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from shared.core.states import JobState, Reason


class FrozenModel(BaseModel):
    """Unknown members are kept: a newer version wrote them, and may run again.

    Stored records keep the names that they have always had, as aliases.
    """

    model_config = ConfigDict(
        frozen=True, extra="allow", validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )


class Receiver(FrozenModel):
    """A receiver of a job. `url` is safe to show; an address with a path or a query is in `sealed`."""

    url: str
    secret: str | None = None
    sealed: str | None = None
    #: what the sealed address is bound to
    context: str = Field(default="", alias="place")
    events: tuple[str, ...] = ("succeeded", "failed", "cancelled", "lost", "rejected")


class Budget(FrozenModel):
    """New attempts that a job may have, or has had, by the cause of the last failure."""

    infrastructure: int = 0
    user: int = 0


#: The warning of a drop that names what is not part of its job.
LEFT_OUT = "SW118"


class Drop(FrozenModel):
    """A script's arrival in the drop container."""

    container: str
    folder: str
    job_file: str
    #: blob name → SHA-256 of what was read
    files: dict[str, str]
    #: blob name → ETag that was read
    etags: dict[str, str]
    #: the youngest Last-Modified of its files when they were frozen, by the storage's clock
    newest: AwareDatetime | None = None
    #: the files that came after that, in a sentence; "" if none did
    late: str = ""


#: The variable with the directory of a job that outlives its attempts.
SAVED = "SLIPWAY_SAVED"


def saved_id(properties: Mapping[str, Any]) -> str:
    """The id of that directory where outputs are listed: one that no output directory of the job has."""
    ids, name = {one["id"] for one in properties.get("outputDirectories") or ()}, "saved"
    while name in ids:
        name += "_"
    return name


class Target(FrozenModel):
    """The engine-side identity of one attempt. Fixed before the first submission, never changed."""

    engine: str
    cluster: str
    experiment: str
    name: str
    token: str

    @property
    def job_id(self) -> str:
        """The job whose attempt it is."""
        return self.token.rpartition(".")[0] or self.token


class Waiting(FrozenModel):
    """Why a job waits: the engine's word, or ours; a sentence; since when."""

    word: str
    text: str
    since: AwareDatetime
    #: whether it lasts until the job or the cluster changes
    never: bool = False
    #: its place in its team's line, from 1 on, computed when it is read; no record holds it
    position: int = 0


#: The reason code of a job that a person has paused.
OWN_PAUSE = "JobPaused"


class OwnPause(FrozenModel):
    """A pause of one job, which starts no attempt until it is resumed: who paused it, since when, and why."""

    by: str
    since: AwareDatetime
    reason: str = ""


#: The most entries of a record's history; beyond that the middle is dropped.
_HISTORY = 120


class Entry(FrozenModel):
    """One recorded transition. `token` recognises our own write when its answer was lost."""

    sequence: int
    state: JobState
    at: AwareDatetime
    token: str
    attempt: int = 1
    reason: Reason | None = None
    note: str = ""
    #: the reason for its wait from then on; "" if none is known
    waits: str = ""
    #: the files that came too late for it, as `Drop.late`
    late: str = ""
    #: who asked for the job's end by it; "" for any other entry
    by: str = ""


def shortened(history: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """A history without its middle where it is long: a job that waits for weeks stays within one row."""
    if len(history) <= _HISTORY:
        return history
    return (*history[: _HISTORY // 4], *history[-_HISTORY // 2 :])


class ErrorLines(FrozenModel):
    """The last lines that a failed job wrote, without its secrets: whole, as a terminal shows them."""

    file: str
    #: the byte of the file at which they begin, or one a little before
    offset: int
    lines: tuple[str, ...]


#: The sign of idleness: all its GPUs are idle, or nothing is added to its standard output and error.
IdleCause: TypeAlias = Literal["gpus", "log"]
#: The label, with the value "true", by which a job opts out.
KEEP = "keep-idle"


class Idle(FrozenModel):
    """A warning, and whether the job's end was requested after it."""

    cause: IdleCause
    #: by the clock of its nodes or of its files: since when, and the last sign of it before the warning
    since: AwareDatetime
    latest: AwareDatetime
    #: by ours
    warned: AwareDatetime
    #: when its end is requested at the earliest, unless it works again
    ends: AwareDatetime
    is_ending: bool = False

    @property
    def clause(self) -> str:
        """The sign of idleness, as a clause."""
        since = self.since.isoformat(timespec="seconds")
        if self.cause == "gpus":
            return f"its GPUs have been idle since {since}"
        return f"nothing was added to its standard output and error since {since}"


def request_of(idle: Idle | None) -> Idle | None:
    """The warning if an end was requested after it; this survives any move of the job by the cluster."""
    return idle if idle is not None and idle.is_ending else None


#: The reason code of a job that waits for a seat among those of its sweep.
WAITS_FOR_SEAT = "SweepTurn"


class Member(FrozenModel):
    """The job's part in a job sweep: which sweep, which of its jobs, with which values."""

    id: str
    index: int
    #: how many of the sweep's jobs may be at work at once
    parallel: int
    #: parameter → its value in this job: a number, a text, true or false
    values: dict[str, Any]

    @property
    def sentence(self) -> str:
        """The reason for the wait of a job without a seat."""
        return f"waits for its turn in its sweep: at most {self.parallel} of its jobs run at once"
