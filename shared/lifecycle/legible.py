"""legible: records of the ledger, as far as they can be read. The ledger notes those that cannot."""

from __future__ import annotations

from collections.abc import Iterable

from shared.core.errors import Unreadable
from shared.core.job import Job, Stored
from shared.core.ledger.records import Active
from shared.core.ports import Ports


async def legible(ports: Ports, job_id: str) -> Stored | None:
    """A record; None where there is none, or where it cannot be read."""
    try:
        return await ports.ledger.get(job_id)
    except Unreadable:
        return None


async def is_known(ports: Ports, job_id: str) -> bool:
    """Whether there is a record, also one that cannot be read."""
    try:
        return await ports.ledger.get(job_id) is not None
    except Unreadable:
        return True


async def records(ports: Ports, active: Iterable[Active]) -> list[Job]:
    """The records of jobs that have not ended, as far as they can be read."""
    result = []
    for row in active:
        try:
            result.append(row.stored.job)
        except Unreadable:
            await legible(ports, row.job_id)  # notes the whole key, unless it is mended by now
    return result
