"""The port to the records of job sweeps. Pure.

Every verb may be repeated safely.
"""

from __future__ import annotations

from typing import Protocol

from shared.core.job_sweeps.record import JobSweep, StoredSweep
from shared.core.notify.events import Notice
from shared.jobspec import JsonObject


class JobSweeps(Protocol):
    """The records of job sweeps, and their templates. `Ledger.unfinished` names those that have not ended."""

    async def create(self, sweep: JobSweep, template: JsonObject) -> StoredSweep:
        """Record a sweep with its template, whose secrets are sealed. The existing one if its id is taken."""

    async def get(self, sweep_id: str) -> StoredSweep | None:
        """The record as it is stored now; None for an unknown id."""

    async def template(self, sweep_id: str) -> JsonObject | None:
        """The template; None once the sweep has ended."""

    async def change(self, stored: StoredSweep, after: JobSweep) -> StoredSweep | None:
        """Write the record if it is still at that version; None where it is not (read again)."""

    async def end(self, stored: StoredSweep, after: JobSweep, notice: Notice | None) -> StoredSweep | None:
        """The same with the event that reports the end, in one write. The template goes."""
