"""The ports to the records of all jobs, and to their events. Pure.

Every verb may be repeated safely. Adapters return or raise; they never call back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from shared.core.job import Job, Stored
from shared.core.ledger.ended import EndedJobs
from shared.core.ledger.entries import (
    Active,
    Change,
    DropMemo,
    Pause,
    Reported,
    Standing,
    Unfinished,
)
from shared.core.ledger.listing import Page, Query
from shared.core.notify.events import Notice
from shared.core.notify.receivers import Disabled
from shared.jobspec import JsonObject


class Ledger(Protocol):
    """The records of all jobs. A transition is one atomic write of record, index row and outbox row."""

    @property
    def shards(self) -> int:
        """How many shards there are; fixed when the table was made."""

    async def create(self, job: Job, spec: JsonObject | None, notice: Notice | None) -> Stored:
        """Insert a record and its immutable spec. Raises `Exists`, unless the existing one is our own."""

    async def get(self, job_id: str) -> Stored | None:
        """The record as it is stored now; None for an unknown id."""

    async def recall(self, job_id: str) -> Stored | None:
        """The record as this process last saw it. It may be old: then a change to it is refused."""

    async def spec(self, job_id: str) -> JsonObject | None:
        """The document that was accepted, secrets sealed, credentials not filled in."""

    async def commit(self, changes: Sequence[Change]) -> list[Stored | None]:
        """Apply each change if its record is still at that version; otherwise None for it (read again).

        At most one change per job. A write of our own whose answer was lost counts as applied.
        """

    async def active(self, shard: int) -> list[Active]:
        """Every job of the shard that has not ended, in one range query."""

    async def unfinished(self, shard: int, now: datetime, longest: timedelta) -> Unfinished:
        """The same, and the shard's events that are due, in one range query over both.

        An event that is due further ahead than `longest` counts as due: a wrong clock wrote it.
        """

    async def find(self, query: Query, *, limit: int, after: str | None) -> Page:
        """Jobs as lists show them, newest first, at most `limit`; `after` is an earlier page's `next`.

        Without a condition, by one state, by time or by their ends it costs one range query a shard; by
        experiment or cluster, two. For any other condition, a bounded search is made: then a page may be
        `cut`.
        """

    async def ended(self, since: datetime, most: int) -> EndedJobs:
        """Jobs that have ended since then, at most `most` of a shard; one range query a shard."""

    async def recent(self, source: str, since: datetime, until: datetime) -> dict[str, datetime]:
        """When each job of a source could start, from `since` on: its creation, or its slot; by id.

        A creation after `until` was written by a wrong clock, and is left out. Two range queries a shard.
        """

    async def paused(self) -> Pause | None:
        """The pause, in one point read; None if submissions are not paused."""

    async def pause(self, pause: Pause | None) -> None:
        """Write the pause; None ends it."""

    async def report(self, reported: Reported) -> None:
        """Publish to every process how many faults of each kind the sweeper found."""

    async def standing(self) -> Standing:
        """Both, the pause and the last report, in one request."""

    async def try_write(self) -> None:
        """Make a write that changes no record. Raises Unavailable if it is refused."""

    async def check(self, jobs: Collection[str], noted: Iterable[str]) -> None:
        """Read all rows that something waits for, those of these jobs, and those noted by name.

        Rows that cannot be read are noted in `Ports.troubles`, whose texts `kinds` has.
        """

    async def drop_memo(self, path: str) -> DropMemo | None:
        """The memo of a dropped path."""

    async def remember(self, memo: DropMemo) -> None:
        """Store it (the last writer wins: it is a cache)."""

    async def forget(self, path: str) -> None:
        """Delete the memo of a dropped path; a missing one counts as success."""

    async def drop_memos(self) -> dict[str, DropMemo]:
        """The memos of all dropped folders, by path."""


class Outbox(Protocol):
    """The events of all jobs (delivered, waiting, dead), and the disabled receivers.

    An event gets here by the transition that it reports (`Ledger.create` and `commit`), in the same write.
    """

    @property
    def shards(self) -> int:
        """How many shards there are; fixed when the table was made."""

    async def undelivered(self, shard: int, now: datetime, longest: timedelta) -> list[Notice]:
        """Outbox rows of the shard that are due, in one range query.

        One that is due further ahead than `longest` counts as due: a wrong clock wrote it.
        """

    async def notice(self, job_id: str, sequence: int) -> Notice | None:
        """One outbox row, or None when it is delivered (or dead)."""

    async def settle(self, notice: Notice) -> None:
        """Store the progress of an outbox row. A settled one moves to the archive, and dead letters."""

    async def dead(self) -> list[Notice]:
        """The events that some receiver never accepted."""

    async def events(self, job_id: str) -> list[Notice]:
        """Every event of a job, delivered or not, by sequence; in one range query."""

    async def find(self, event_id: str) -> Notice | None:
        """One event by its id. Reads through the archive: a person may wait for it, a job may not."""

    async def revive(self, notice: Notice) -> None:
        """Put an event back among the undelivered, as given; it is then no longer a dead letter."""

    async def disable(self, receiver: Disabled) -> None:
        """Store that a receiver wants no more events."""

    async def enable(self, receiver_id: str) -> None:
        """Enable a receiver again. One that is not disabled counts as success."""

    async def disabled(self) -> list[Disabled]:
        """Every receiver that wants no more events, in one range query."""
