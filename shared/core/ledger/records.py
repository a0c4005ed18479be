"""What the ledger holds beside the records: rows and changes. Pure declarations."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from shared.core.errors import NoTarget, Unreadable
from shared.core.job import Job, JobState, Stored, Target, Transition
from shared.core.notify.events import Notice
from shared.core.relations.claim import Claim

#: Of zlib, as powers of two: with its defaults, what it sets up first costs ten times a small record.
_WINDOW, _MEMORY = 11, 4


@dataclass(frozen=True)
class StatusLine:
    """The line that a drop's STATUS has to hold: since when, and its number, which only grows."""

    name: str
    sequence: int
    since: datetime


class Active(NamedTuple):
    """The row of a job that has not ended: what the sweep compares, and the record itself.

    A tuple, since a sweep makes thousands of them: a frozen dataclass takes three times as long.
    """

    job_id: str
    state: JobState
    due: datetime
    target: Target | None
    cancel: bool = False
    misses: int = 0
    #: its key in the list of all jobs
    listed: str = ""
    #: what it waits for, in a sentence; "" for nothing that is known
    waits: str = ""
    #: when it came into its state, as the row has it: few are looked into
    since: str = ""
    #: None for a job that was not dropped
    shown: StatusLine | None = None
    #: the whole record, packed, and its version: a change to it needs no other read
    packed: str = ""
    etag: str = ""
    #: whether its row in the list of all jobs shows this record, and not an earlier one
    listed_now: bool = True
    #: the jobs that it waits for, by id
    after: tuple[str, ...] = ()
    #: the job sweep that it belongs to
    sweep: str = ""
    #: what it takes of its team's quota, and the team; None where there is none
    claim: Claim | None = None
    team: str = ""

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
        """Whether the record in it can be unpacked: cheaper than to read what that says."""
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
            raise Unreadable(f"row n|{self.job_id} of the ledger", "Packed") from error


@dataclass(frozen=True)
class Unfinished:
    """What is not finished in a shard: jobs and job sweeps that have not ended, events that are due."""

    jobs: list[Active]
    events: list[Notice]
    #: the ids of the job sweeps
    sweeps: list[str] = field(default_factory=list)


def packed(job: Job) -> str:
    """A record as its index row holds it: a sweep reads thousands and unpacks the few that change."""
    shrink = zlib.compressobj(1, zlib.DEFLATED, _WINDOW, _MEMORY)
    text = job.model_dump_json(exclude_defaults=True).encode()
    return b64encode(shrink.compress(text) + shrink.flush()).decode()


def unpacked(text: str) -> Job:
    """The record that `packed` wrote as this text. Raises ValueError or zlib.error."""
    return Job.model_validate_json(zlib.decompress(b64decode(text)))


def checksum(text: str) -> str:
    """What distinguishes one packed record from another: the checksum at the end of what zlib wrote."""
    return text[-8:]


@dataclass(frozen=True)
class Change:
    """One transition with the version it applies to and the outbox row that belongs to it."""

    stored: Stored
    transition: Transition
    notice: Notice | None = None


@dataclass(frozen=True)
class DropMemo:
    """What the ledger remembers of one dropped path: a cache that spares reading every blob."""

    path: str
    #: of the files that make the run
    etags: Mapping[str, str]
    job_id: str
    generation: int
    waiting: bool = False
    folder: str = ""
    #: digest of everything that lay directly in the folder, once all of it was dealt with
    content: str = ""
    #: False for what was rejected or explained: another version of any of its files is looked at
    started: bool = True


@dataclass(frozen=True)
class Silent:
    """A cluster that does not answer: since when, and what came of the last question."""

    since: datetime
    why: str


@dataclass(frozen=True)
class Reported:
    """What the sweeps of a part found to be wrong at a moment: numbers by kind, and silent clusters."""

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
    """What holds for many jobs at once: what each part of the sweeps reported last, and the pause."""

    reported: tuple[Reported, ...] = ()
    pause: Pause | None = None
