"""Jobs that an older version ended are put into the lists: it wrote no rows of groups, and no `Shown`.

Such a job is found by its row `f|`, which does not say `Listed`. There are some in a table that was upgraded,
and again after a rollback; so every run looks at what ended since the last one.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from shared.adapters.storage import listed, rows
from shared.adapters.storage.store import Store
from shared.adapters.storage.table import Operation, Range, Refused

#: Rows of one look; how many jobs are written at once.
_ROWS, _PARALLEL = 1_000, 50
#: By so much the clocks of two processes may differ, and a write may be late.
_MARGIN = timedelta(hours=1)


async def relist(store: Store, now: datetime, seconds: float) -> int:
    """Complete the lists within some seconds, or go on in the next run: how many jobs were put there."""
    until = await store.listed()
    first = max(0, int(until or 0) - int(_MARGIN.total_seconds() * 1000))
    end = asyncio.get_running_loop().time() + seconds
    found = await asyncio.gather(*(_shard(store, n, f"f|{first:015d}", end) for n in range(store.shards)))
    if all(whole for _, whole in found):
        await store.set_listed(rows.sortable(now))
    return sum(number for number, _ in found)


async def _shard(store: Store, shard: int, first: str, end: float) -> tuple[int, bool]:
    """How many jobs of a shard were put into lists, and whether that were all."""
    number = 0
    while True:
        wanted = Range(rows.partition(shard), first, "f}", select=("RowKey", "Listed"), limit=_ROWS)
        found = await store.rows(wanted)
        old = [str(row["RowKey"]) for row in found if not row.get("Listed")]
        for at in range(0, len(old), _PARALLEL):
            if asyncio.get_running_loop().time() > end:
                return number, False
            number += sum(await asyncio.gather(*(_job(store, key) for key in old[at : at + _PARALLEL])))
        if len(found) < _ROWS:
            return number, True
        first = f"{found[-1]['RowKey']}!"


async def _job(store: Store, ended: str) -> bool:
    """Put one job into the lists, by the key of its row `f|`, unless it is archived meanwhile."""
    job_id = ended.rpartition("|")[2]
    record = await store.row(job_id, f"j|{job_id}")
    job = store.perhaps(record.row, rows.job_of) if record is not None else None
    if record is None or job is None or job.archived:
        return False
    # The guard is a write of the record: the time of the last one before it counts, so it is kept.
    stored = rows.text_of(rows.stored_of(record.row, record.written))
    guard = {**rows.row_of(job_id, f"j|{job_id}", store.shards), "Stored": stored}
    done = {**rows.row_of(job_id, ended, store.shards), "Listed": True}
    new = [*listed.shown_rows(job, store.shards), done]
    try:
        await store.write(
            job_id, Operation("merge", guard, record.etag), *(Operation("upsert", row) for row in new)
        )
    except Refused:
        return False  # another process changed it: the next run checks
    return True
