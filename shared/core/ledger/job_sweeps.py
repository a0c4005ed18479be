"""The port to the records of job sweeps. Pure.

Every verb may be repeated safely.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from shared.core.job_sweeps.record import JobSweep, StoredSweep
from shared.core.notify.events import Notice
from shared.jobspec import JsonObject


@dataclass(frozen=True)
class FinishedSweep:
    """Everything that is recorded of one job sweep that has ended."""

    stored: StoredSweep
    events: tuple[Notice, ...]


class SweepKeys(NamedTuple):
    """Which sweeps a shard has, by their ids."""

    active: Sequence[str]
    #: oldest first, each prefixed with the moment of its end and `|`
    ended: Sequence[str]


def line_of_sweep(finished: FinishedSweep) -> bytes:
    """One line of JSON for the archive: the record and its events."""
    record = finished.stored.sweep.model_dump(mode="json", exclude_defaults=True)
    body = {"sweep": record, "events": [notice.model_dump(mode="json") for notice in finished.events]}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def sweep_of_line(line: bytes) -> JobSweep:
    """The record that `line_of_sweep` wrote as this line."""
    return JobSweep.model_validate(json.loads(line)["sweep"])


class JobSweeps(Protocol):
    """The records of job sweeps, and their templates. `Ledger.unfinished` names those that have not ended."""

    async def create(self, sweep: JobSweep, template: JsonObject) -> StoredSweep:
        """Record a sweep with its template, whose secrets are sealed. The existing one if its id is taken."""

    async def claim(self, sweep_id: str, job_id: str) -> bool:
        """Keep a job with the same idempotency key from being recorded under this id.

        Returns whether the claim holds; False if a record, or another claim, was first.
        """

    async def claimant(self, job_id: str) -> str | None:
        """The sweep that claimed the id; None if no sweep did."""

    async def get(self, sweep_id: str) -> StoredSweep | None:
        """The record as it is stored now; None for an unknown id."""

    async def template(self, sweep_id: str) -> JsonObject | None:
        """The template; None once the sweep has ended."""

    async def change(self, stored: StoredSweep, after: JobSweep) -> StoredSweep | None:
        """Write the record if it is still at that version; otherwise None (read again)."""

    async def end(self, stored: StoredSweep, after: JobSweep, notice: Notice | None) -> StoredSweep | None:
        """The same with the event that reports the end, in one write. The template goes."""

    async def due(self, shard: int, before: datetime, limit: int, after: str = "") -> Sequence[str]:
        """Sweeps of the shard that ended before that, oldest first, each prefixed with its moment and `|`.

        `after` is the last one of an earlier answer. One range query.
        """

    async def recent(self, shard: int, since: datetime) -> SweepKeys:
        """Sweeps of the shard that are active, and those that ended since then and are not archived.

        One that ends meanwhile may be in both; none is left out. Two range queries.
        """

    async def gather(self, sweep_id: str) -> FinishedSweep | None:
        """All of a sweep; None while its event is undelivered, or if it is archived already."""

    async def entomb(self, finished: FinishedSweep, tombstone: JobSweep) -> bool:
        """Replace the record by the tombstone and remove the rest; False if something has changed."""
