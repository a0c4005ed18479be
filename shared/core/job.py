"""The job: one frozen record, changed only by making a new one. Pure: no clock, no I/O."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import AwareDatetime, Field

from shared.core.code.record import Code
from shared.core.cost.usage import Rate, Usage, seconds_between
from shared.core.errors import NoTarget
from shared.core.pacing.wait_kinds import WaitKind
from shared.core.relations.claim import Claim
from shared.core.relations.contents import (
    LEFT_OUT,
    Budget,
    Drop,
    Entry,
    ErrorLines,
    FrozenModel,
    Idle,
    Member,
    OwnPause,
    Receiver,
    Target,
    Waiting,
    request_of,
    shortened,
)
from shared.core.relations.dependency import Dependency
from shared.core.relations.hold import Hold
from shared.core.states import ARROWS, JobState, Reason

__all__ = [
    "Budget",
    "Dependency",
    "Drop",
    "Entry",
    "Job",
    "JobState",
    "Reason",
    "Receiver",
    "Stored",
    "Target",
    "Transition",
    "Waiting",
    "plain",
]


class Job(FrozenModel):
    """The ledger record of one job; changed only by making a new one with `move` or `note`."""

    id: str
    key: str
    generation: int = 1
    payload: str
    door: str
    name: str
    experiment: str
    cluster: str
    labels: dict[str, str] = Field(default_factory=dict)
    notify: tuple[Receiver, ...] = ()
    drop: Drop | None = None
    code: Code | None = None  #: the archive that every attempt runs; None if it brings no code, or mounts it
    receipt: str = ""  #: folder of the receipt in the container `runs`
    source: str = ""  #: who sent it: the caller at the API, or the door
    team: str = ""  #: the team that it belongs to; "" where there are no teams
    nodes: int = 0  #: those that its document requests; 0 in older records
    #: what its document requests, until a person changes it while the job waits; "" for the normal one
    priority: str = ""
    paused: OwnPause | None = None  #: who has paused it; None for a job that may start
    #: the job that this one repeats, by `rerun`; and the one from whose saved files it goes on
    rerun_of: str = ""
    resumes: str = ""
    #: jobs that have to end first, before any attempt of this one
    dependencies: tuple[Dependency, ...] = ()
    sweep: Member | None = None  #: its job sweep, if it belongs to one
    claim: Claim | None = None  #: its claim on its team's quota; None if there is no quota
    #: GPUs that it has on all its nodes together, as far as they are known, and its part of each node
    gpus: int = 0
    part: float = 1.0
    shares: bool = False  #: whether it shares them, so that what its scheduler reports counts
    rate: Rate | None = None  #: the price of an hour of its part; None if it is not known
    longest: float = 0.0  #: hours for which it may run; 0 in older records

    state: JobState
    reason: Reason | None = None
    message: str = ""
    exit_code: int | None = None
    #: if it failed by its own fault, the line of standard error that explains why, if that was read;
    #: if it was rejected, the first problem of its document
    last_error: str = ""
    error_lines: ErrorLines | None = None
    attempt: int = 1
    retry: Budget = Budget()
    #: the message's `resources`
    resources: dict[str, Any] = Field(default_factory=dict)
    spent: Budget = Budget()
    target: Target | None = None
    #: the engine's own name for the attempt, such as a number or an id; "" until it is known
    handle: str = ""
    #: the folders between a path prefix of the job file and this attempt's output; "" until it is known
    segment: str = ""
    waiting: Waiting | None = None
    idle: Idle | None = None
    hold: Hold | None = None  #: None if its nodes are not kept after a failure
    cancel: bool = False
    cancelled_by: str = ""  #: who asked first for that
    cancel_request: str = ""  #: the code of the request, if it was for many jobs
    entered: tuple[str, ...] = ()  #: who was told where its processes are
    misses: int = 0
    missed_at: AwareDatetime | None = None
    unknown_since: AwareDatetime | None = None
    problems: tuple[dict[str, Any], ...] = ()
    received: str = ""  #: the text of a rejected document, without secret or unknown parts

    created: AwareDatetime
    #: seconds that it ran before `started`, in failed attempts and in runs that its cluster gave up
    ran_before: float = 0.0
    started: AwareDatetime | None = None
    ended: AwareDatetime | None = None
    #: seconds for which its last attempt installed packages; 0 until they are known, None if it installs none
    packages: int | None = None
    due: AwareDatetime  #: when the sweeper checks it again even if the engine reports nothing new
    #: the earliest start, because its source exceeded the hourly limit
    slot: AwareDatetime | None = Field(default=None, alias="turn")
    sequence: int = 1
    history: tuple[Entry, ...] = ()
    archived: str = ""  #: where the whole record is, if this one is only a tombstone

    @property
    def fixed_target(self) -> Target:
        """The target of an attempt that is or was being submitted. Raises NoTarget if none is fixed."""
        if self.target is None:
            raise NoTarget(self.id)
        return self.target

    @property
    def wait(self) -> WaitKind:
        """What it waits for until `due`."""
        if self.state is JobState.SUBMITTING:
            return WaitKind.SUBMISSION
        if self.state is not JobState.ACCEPTED:
            return WaitKind.EVIDENCE
        if self.slot is not None and self.due == self.slot:
            return WaitKind.SLOT
        return WaitKind.ATTEMPT if self.attempt > 1 else WaitKind.ROOM

    @property
    def planned_wait(self) -> timedelta | None:
        """How long it was to wait for its slot of the hour; None for any other wait."""
        return self.due - self.created if self.wait is WaitKind.SLOT else None

    @property
    def unmet(self) -> tuple[Dependency, ...]:
        """The unmet conditions on other jobs, which keep this one from being submitted."""
        return tuple(one for one in self.dependencies if not one.met)

    @property
    def needs_seat(self) -> bool:
        """Whether its next step is a submission that requires a seat in its job sweep.

        Between two attempts it keeps its seat.
        """
        return self.sweep is not None and self._is_new

    @property
    def needs_claim(self) -> bool:
        """The same for its claim on its team's quota."""
        return self.claim is not None and self._is_new

    @property
    def is_recalled(self) -> bool:
        """Whether its current attempt is being ended because the team that lent it quota needs that back."""
        return self.claim is not None and self.claim.recalled

    @property
    def is_needed_back(self) -> bool:
        """Whether that team still needs the quota: any process that sees this ends the attempt."""
        return self.claim is not None and self.claim.is_needed_back

    @property
    def usage(self) -> Usage:
        """What it has used with all its attempts, once it has ended."""
        hours = (self.ran_before + seconds_between(self.started, self.ended)) / 3600
        cost = hours * self.rate.per_hour if self.rate else 0.0
        return Usage(1, hours * self.nodes * self.part, hours * self.gpus, cost)

    @property
    def _is_new(self) -> bool:
        return self.state is JobState.ACCEPTED and self.target is None

    @property
    def stage(self) -> Entry:
        """The entry that set the current state; later entries only add notes."""
        return self._first_alike(lambda entry: (entry.state, entry.attempt))

    @property
    def line(self) -> Entry:
        """The entry since which the line in STATUS has not changed."""
        return self._first_alike(lambda entry: (entry.state, entry.attempt, entry.waits, entry.late))

    def _first_alike(self, aspect: Callable[[Entry], Any]) -> Entry:
        """The first of the trailing entries that look the same."""
        first = self.history[-1]
        for entry in reversed(self.history):
            if aspect(entry) != aspect(first):
                break
            first = entry
        return first

    @property
    def status_file(self) -> str:
        """The blob with the current status line; "" for a job that was not dropped."""
        return f"{self.receipt}/STATUS" if self.drop is not None else ""

    @property
    def absent_files(self) -> str:
        """What STATUS says of files of its folder that are not part of it; "" if it has all of them."""
        left_out = (str(one["message"]) for one in self.problems if one.get("code") == LEFT_OUT)
        return "; ".join(filter(None, (*left_out, self.drop.late if self.drop else "")))

    def move(self, state: JobState, *, now: datetime, token: str, **changes: Any) -> Transition:
        """The next record, in another state. Raises ValueError for a transition that is not in `ARROWS`."""
        if state not in ARROWS[self.state]:
            raise ValueError(f"a job cannot go from {self.state} to {state}")
        now = max(now, self.history[-1].at)  # another process's clock may be ahead of ours
        fresh = {"reason": None, "message": "", "unknown_since": None, "misses": 0, "missed_at": None}
        changes = {**fresh, "waiting": None, "paused": None, "idle": request_of(self.idle), **changes}
        if self.started is not None and changes.get("started", self.started) is None:
            changes.setdefault("ran_before", self.ran_before + seconds_between(self.started, now))
        if state is JobState.RUNNING and self.started is None:
            changes.setdefault("started", now)
        if state.terminal:
            changes.setdefault("ended", now)
        return self._next(state, now, token, changes)

    def note(self, *, now: datetime, token: str, remark: str = "", **changes: Any) -> Transition:
        """A change that leaves the state as it is, not terminal. `remark`: a note in its history alone."""
        if self.state.terminal:
            raise ValueError(f"a job that is {self.state} never changes")
        return self._next(self.state, now, token, changes, remark)

    def _next(
        self, state: JobState, now: datetime, token: str, changes: dict[str, Any], remark: str = ""
    ) -> Transition:
        sequence = self.sequence + 1
        waiting = changes.get("waiting", self.waiting)
        if "message" in changes:
            changes = {**changes, "message": plain(str(changes["message"]))}
        entry = Entry(
            sequence=sequence,
            state=state,
            at=max(now, self.history[-1].at),
            token=token,
            attempt=changes.get("attempt", self.attempt),
            reason=changes.get("reason"),
            note=plain(remark or str(changes.get("message", "")), 200),
            waits=waiting.text if waiting else "",
            late=drop.late if (drop := changes.get("drop", self.drop)) else "",
            by=changes.get("cancelled_by", ""),
        )
        history = shortened((*self.history, entry))
        after = self.model_copy(update={"state": state, "sequence": sequence, "history": history, **changes})
        return Transition(before=self, after=after, token=token)

    def wrote(self, token: str) -> bool:
        """Whether a write with this token is part of this record's history."""
        return any(entry.token == token for entry in self.history)


@dataclass(frozen=True)
class Transition:
    """One step of one record, to be committed if nothing changed meanwhile."""

    before: Job
    after: Job
    token: str


@dataclass(frozen=True)
class Stored:
    """A record in the ledger: with its ETag, and the storage's own time of the last write.

    `stored` is known when the record was read, None when it was just written.
    """

    job: Job
    etag: str
    stored: datetime | None


def plain(text: str, limit: int = 2000) -> str:
    """Text from elsewhere, made safe for records, events and log lines: printable, valid and bounded."""
    cut = text[:limit].encode("utf-8", "replace").decode()
    return "".join(c if c.isprintable() else " " for c in cut)
