"""The ledger's rows and changes, besides the records. Pure declarations."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.core.errors import NoTarget, Unreadable
from shared.core.job import Job, JobState, Stored, Target, Transition
from shared.core.ledger.kinds import remedy_for
from shared.core.notify.events import Notice
from shared.core.pacing.wait_kinds import WaitKind
from shared.core.relations.claim import Claim

#: Sizes for zlib, as powers of two: with its defaults, its setup costs ten times as much as a small record.
_WINDOW, _MEMORY = 11, 4


@dataclass(frozen=True)
class StatusLine:
    """The line that a drop's STATUS has to hold: its time, and its number, which only grows."""

    name: str
    sequence: int
    since: datetime
    #: the files that are not part of the job, as `Job.absent_files`
    absent_files: str = ""


class Active(NamedTuple):
    """The row of a job that has not ended: the values that the sweeper compares, and the record itself.

    A tuple, since a pass makes thousands of them: a frozen dataclass takes three times as long.
    """

    job_id: str
    state: JobState
    due: datetime
    target: Target | None
    cancel: bool = False
    misses: int = 0
    #: its key in the list of all jobs
    listed: str = ""
    #: the reason for its wait, in a sentence; "" if none is known
    waits: str = ""
    #: when it entered its state, as text: few of these are parsed
    since: str = ""
    #: None for a job that was not dropped
    shown: StatusLine | None = None
    #: the whole record, packed, and its version: a change needs no other read
    packed: str = ""
    etag: str = ""
    #: the jobs that it waits for, by id
    after: tuple[str, ...] = ()
    #: the job sweep that it belongs to
    sweep: str = ""
    #: its claim on its team's quota, and the team; None if there is no quota
    claim: Claim | None = None
    team: str = ""
    #: the same as `Job.wait` and `Job.planned_wait` of the record
    wait: WaitKind = WaitKind.ROOM
    planned_wait: timedelta | None = None
    #: "wanted" for a job whose nodes are to be kept after a failure, "held" where they are; "" for any other
    hold: str = ""
    #: "" for the normal one
    priority: str = ""
    #: whether a person has paused it
    paused: bool = False

    @property
    def needs_seat(self) -> bool:
        """The same as `Job.needs_seat` of the record."""
        return bool(self.sweep) and self.state is JobState.ACCEPTED and self.target is None

    @property
    def needs_claim(self) -> bool:
        """The same as `Job.needs_claim` of the record."""
        return self.claim is not None and self.state is JobState.ACCEPTED and self.target is None

    @property
    def fixed_target(self) -> Target:
        """The same as `Job.fixed_target` of the record."""
        if self.target is None:
            raise NoTarget(self.job_id)
        return self.target

    @property
    def is_whole(self) -> bool:
        """Whether the record in it can be unpacked, which is cheaper to check than to parse it."""
        try:
            return bool(zlib.decompress(b64decode(self.packed)))
        except (ValueError, zlib.error):
            return False

    @property
    def stored(self) -> Stored:
        """The record with its version. Raises Unreadable."""
        try:
            return Stored(unpacked(self.packed), self.etag, None)
        except (ValueError, zlib.error) as error:  # also of base64, JSON and the model
            row = f"n|{self.job_id}"
            raise Unreadable(f"row {row} of the ledger", "Packed", remedy_for(f"s000/{row}")) from error


@dataclass(frozen=True)
class Unfinished:
    """The unfinished part of a shard: jobs and job sweeps that have not ended, events that are due."""

    jobs: list[Active]
    events: list[Notice]
    #: the ids of the job sweeps
    sweeps: list[str] = field(default_factory=list)
    #: whether the row of every job could be read
    whole: bool = True


def packed(job: Job) -> str:
    """A record in the form of its index row: a pass reads thousands, and unpacks the few that change."""
    shrink = zlib.compressobj(1, zlib.DEFLATED, _WINDOW, _MEMORY)
    text = job.model_dump_json(exclude_defaults=True).encode()
    return b64encode(shrink.compress(text) + shrink.flush()).decode()


def unpacked(text: str) -> Job:
    """The record that `packed` wrote as this text. Raises ValueError or zlib.error."""
    return Job.model_validate_json(zlib.decompress(b64decode(text)))


@dataclass(frozen=True)
class Change:
    """One transition with the version it applies to and the outbox row that belongs to it."""

    stored: Stored
    transition: Transition
    notice: Notice | None = None


@dataclass(frozen=True)
class DropMemo:
    """The ledger's memo of one dropped path: a cache that saves reading every blob."""

    path: str
    #: of the files that make the run
    etags: Mapping[str, str]
    job_id: str
    generation: int
    waiting: bool = False
    folder: str = ""
    #: digest of everything directly in the folder, once all of it was processed
    content: str = ""
    #: False if it was rejected or explained: then a new version of any of its files is checked
    started: bool = True
    #: of a folder with a delayed look: which message brings it, and when
    ticket: str = ""
    until: datetime | None = None
    #: the youngest Last-Modified of all files of the folder that its job has, or names as late
    newest: datetime | None = None


@dataclass(frozen=True)
class Silent:
    """A cluster that does not answer: since when, and the outcome of the last query."""

    since: datetime
    why: str


@dataclass(frozen=True)
class Reported:
    """The faults that a pass found: numbers by kind, and silent clusters."""

    at: datetime
    counts: Mapping[str, int]
    #: engine/cluster → since when
    silent: Mapping[str, Silent] = field(default_factory=dict)


@dataclass(frozen=True)
class Pause:
    """Submissions are paused: since when, by which caller, and why."""

    since: datetime
    by: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Standing:
    """The state of the whole deployment: the last report of the sweeper, and the pause."""

    reported: Reported | None = None
    pause: Pause | None = None
