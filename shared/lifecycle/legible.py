"""legible: reads records of the ledger, and skips unreadable ones, which the ledger notes."""

from __future__ import annotations

from collections.abc import Iterable

from shared.core.errors import Unreadable
from shared.core.job import Job, Stored
from shared.core.ledger.records import Active
from shared.core.ports import Ports


async def legible(ports: Ports, job_id: str) -> Stored | None:
    """A record; None if there is none, or it cannot be read."""
    try:
        return await ports.ledger.get(job_id)
    except Unreadable:
        return None


async def is_known(ports: Ports, job_id: str) -> bool:
    """Whether there is a record, readable or not."""
    try:
        return await ports.ledger.get(job_id) is not None
    except Unreadable:
        return True


async def records(ports: Ports, active: Iterable[Active]) -> list[Job]:
    """The records of jobs that have not ended, without unreadable ones."""
    result = []
    for row in active:
        try:
            result.append(row.stored.job)
        except Unreadable:
            await legible(ports, row.job_id)  # notes the whole key, unless the row is readable by now
    return result
