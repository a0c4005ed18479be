"""What the ledger holds beside the records: rows and changes. Pure declarations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.events import Notice
from shared.job import Job, JobState, Stored, Target, Transition


@dataclass(frozen=True)
class Shown:
    """The line that a drop's STATUS has to hold: since when, and its number, which only grows."""

    name: str
    sequence: int
    since: datetime


@dataclass(frozen=True)
class Active:
    """The index row of a job that has not ended: what the sweep needs without reading the record."""

    job_id: str
    state: JobState
    due: datetime
    target: Target | None
    cancel: bool = False
    misses: int = 0
    #: its place in the listing
    listed: str = ""
    #: None for a job that was not dropped
    shown: Shown | None = None


@dataclass(frozen=True)
class Change:
    """One transition with the version it applies to and the outbox row that belongs to it."""

    stored: Stored
    transition: Transition
    notice: Notice | None = None


@dataclass(frozen=True)
class Seen:
    """What the ledger remembers of one dropped path: a cache that spares reading every blob."""

    path: str
    #: of the files that make the run
    etags: Mapping[str, str]
    job_id: str
    generation: int
    waiting: bool = False
    folder: str = ""
    #: digest of everything that lay directly in the folder
    content: str = ""


@dataclass(frozen=True)
class Page:
    """Some jobs, newest first, and where the next page starts."""

    jobs: tuple[Job, ...]
    next: str | None = None


@dataclass(frozen=True)
class Pause:
    """Submissions are stopped: since when, by whom, and why."""

    since: datetime
    by: str = ""
    reason: str = ""
