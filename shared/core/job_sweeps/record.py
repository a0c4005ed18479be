"""A job sweep: one frozen record of the jobs of one template, and of which of them may run. Pure.

A job has a *seat* from before its first submission until its end is recorded. There are never more seats
than `parallel`, and each change of the record is guarded by its version.
"""

from __future__ import annotations

from base64 import b32encode
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict

from shared.core.code.record import Code
from shared.core.identity import job_id
from shared.core.job import Budget, Dependency, Receiver
from shared.core.relations.contents import Member
from shared.core.states import JobState

#: The mark of each end of a job in `ends`, and the mark of a job that has not ended.
_MARKS = {
    JobState.SUCCEEDED: "s",
    JobState.FAILED: "f",
    JobState.CANCELLED: "c",
    JobState.LOST: "l",
    JobState.REJECTED: "r",
}
_STATES = {mark: state for state, mark in _MARKS.items()}
_NOT_YET = "."


class JobSweep(BaseModel):
    """The record of one job sweep; changed only by making a new one."""

    # Unknown members are kept: a newer version wrote them.
    model_config = ConfigDict(frozen=True, extra="allow")

    id: str
    #: identifies duplicates of a request, and is the context to which its secrets are sealed
    key: str
    payload: str
    #: its door, and who sent it
    door: str
    source: str
    team: str = ""
    name: str
    experiment: str
    cluster: str = ""
    labels: dict[str, str] = {}
    notify: tuple[Receiver, ...] = ()
    retry: Budget = Budget()
    resources: dict[str, Any] = {}
    #: for how long each of its jobs keeps its nodes after a failure of its own; "" for not at all
    hold: str = ""
    dependencies: tuple[Dependency, ...] = ()
    #: the archive that each of its jobs runs
    code: Code | None = None
    #: the parameters as written, and the number of their combinations
    parameters: dict[str, Any]
    total: int
    parallel: int
    created: AwareDatetime
    ended: AwareDatetime | None = None
    #: how many of its jobs are recorded, in order
    recorded_jobs: int = 0
    #: the numbers of the jobs that have a seat
    seats: tuple[int, ...] = ()
    #: one mark for each job: how it ended
    ends: str = ""
    cancel: bool = False
    #: who asked first for its cancellation
    cancelled_by: str = ""
    #: where the whole record is, if this one is only a tombstone
    archived: str = ""

    def job_key(self, index: int) -> str:
        """The idempotency key of one of its jobs, prefixed with the source."""
        return sha256(f"{self.source}|{self.candidate_key(index)}".encode()).hexdigest()

    def candidate_key(self, index: int) -> str:
        """The same without the source."""
        return f"{self.id}|{index}"

    def job_id(self, index: int) -> str:
        """The id of one of its jobs: it follows from the sweep, so none is made twice."""
        return job_id(self.job_key(index), 1)

    def member(self, index: int, values: Mapping[str, Any]) -> Member:
        """Its description in the record of one of its jobs."""
        return Member(id=self.id, index=index, parallel=self.parallel, values=dict(values))

    @property
    def marks(self) -> str:
        """One mark for each job, including jobs whose mark is not written yet."""
        return self.ends.ljust(self.total, _NOT_YET)

    @property
    def open(self) -> list[int]:
        """The recorded jobs whose end is not recorded."""
        return [index for index, mark in enumerate(self.marks[: self.recorded_jobs]) if mark == _NOT_YET]

    @property
    def counts(self) -> dict[JobState, int]:
        """How many of its jobs ended in each state."""
        return {_STATES[mark]: n for mark, n in sorted(Counter(self.marks).items()) if mark in _STATES}

    @property
    def all_ended(self) -> bool:
        """Whether every one of its jobs has ended."""
        return self.recorded_jobs >= self.total and not self.open

    def after_ends(self, ends: Mapping[int, JobState]) -> JobSweep:
        """The same after some jobs ended: their ends are noted, and their seats are free."""
        marks = list(self.marks)
        for index, state in ends.items():
            marks[index] = _MARKS[state]
        seats = tuple(index for index in self.seats if marks[index] == _NOT_YET)
        return self.model_copy(update={"ends": "".join(marks), "seats": seats})

    def tombstone(self, archived: str) -> JobSweep:
        """The tombstone: enough for a duplicate to join, and to find the rest."""
        nothing = {
            "labels": {},
            "notify": (),
            "retry": Budget(),
            "resources": {},
            "dependencies": (),
            "parameters": {},
        }
        return self.model_copy(update=nothing | {"archived": archived})

    def with_seats(self, waiting: Iterable[int]) -> JobSweep:
        """The same with a seat for as many of these jobs as `parallel` allows, in their order."""
        room = max(0, self.parallel - len(self.seats))
        new = [index for index in sorted(waiting) if index not in self.seats][:room]
        return self.model_copy(update={"seats": (*self.seats, *new)}) if new else self


@dataclass(frozen=True)
class StoredSweep:
    """A record as the ledger holds it, with its version."""

    sweep: JobSweep
    etag: str


def sweep_id(key: str) -> str:
    """The id of a job sweep: the same for every duplicate of one request."""
    return "s_" + b32encode(sha256(f"sweep|{key}".encode()).digest()[:15]).decode().lower()
