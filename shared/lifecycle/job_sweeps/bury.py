"""bury: after the retention, moves the records of job sweeps into the archive, as for jobs.

The line is written before the tombstone, so a crash in between leaves one line too many, never one too few.
"""

from __future__ import annotations

import asyncio
from datetime import datetime

from shared.core.errors import Unreadable
from shared.core.ledger.finished_jobs import line_locations
from shared.core.ledger.job_sweeps import FinishedSweep, line_of_sweep
from shared.core.ports import Ports


async def bury_sweeps(ports: Ports, shard: int, before: datetime, end: float) -> int:
    """Archive the sweeps of a shard that ended before that time, until the loop's clock reaches `end`.

    Returns how many.
    """
    number, after = 0, ""
    while asyncio.get_running_loop().time() < end:
        due = await ports.job_sweeps.due(shard, before, ports.policy.archive_batch, after)
        number += await _batch(ports, shard, [key.rpartition("|")[2] for key in due])
        if len(due) < ports.policy.archive_batch:
            break
        after = due[-1]  # earlier rows wait for an event to be delivered, or cannot be read
    return number


async def _batch(ports: Ports, shard: int, due: list[str]) -> int:
    whole = [one for one in [await _gather(ports, sweep_id) for sweep_id in due] if one is not None]
    if not whole:
        return 0
    lines = [line_of_sweep(one) for one in whole]
    first = whole[0].stored.sweep
    locations = line_locations(shard, lines, first.ended or first.created)
    await ports.archive.put(locations[0].name, b"".join(lines))
    buried = [
        await ports.job_sweeps.entomb(one, one.stored.sweep.tombstone(str(location)))
        for one, location in zip(whole, locations, strict=True)
    ]
    return sum(buried)


async def _gather(ports: Ports, sweep_id: str) -> FinishedSweep | None:
    try:
        return await ports.job_sweeps.gather(sweep_id)
    except Unreadable:
        return None  # the record stays where it is, and must not keep the others
