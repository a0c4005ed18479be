"""Updates the list rows of jobs that an older version changed.

A job that it ended has no rows of groups, and no `Shown`: it is found by its row `f|`, which lacks `Listed`.
A job that it moved on is listed in its earlier state: it is found by its index row, whose `Current` is that
of another record. A table has such jobs after an upgrade, and again after a rollback. So every run checks the
jobs that ended since the last one, and every sweep checks the active ones.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.adapters.storage import rows
from shared.adapters.storage.lists import listed
from shared.adapters.storage.store import Store
from shared.adapters.storage.table import Operation, Range, Refused
from shared.core.errors import Misuse, Unreadable
from shared.core.ledger.records import Active, checksum

log = logging.getLogger(__name__)

#: How many rows one check reads, and how many jobs are written together.
_ROWS, _PARALLEL = 1_000, 50
#: How far the clocks of two processes may differ, and how late a write may be.
_MARGIN = timedelta(hours=1)


async def relist(store: Store, now: datetime, seconds: float) -> int:
    """Complete the lists within some seconds, or go on in the next run. Returns how many jobs were added."""
    until = await store.listed()
    first = max(0, int(until or 0) - int(_MARGIN.total_seconds() * 1000))
    end = asyncio.get_running_loop().time() + seconds
    shards = range(store.shards)
    results = await asyncio.gather(
        *(_active(store, n, end) for n in shards), *(_shard(store, n, f"f|{first:015d}", end) for n in shards)
    )
    if all(whole for _, whole in results):
        await store.set_listed(rows.sortable(now))
    return sum(number for number, _ in results)


async def relist_active(store: Store, jobs: Sequence[Active]) -> int:
    """Write the list rows of active jobs anew, by their index rows; returns how many."""
    return sum(await asyncio.gather(*(_moved(store, row) for row in jobs)))


async def _moved(store: Store, row: Active) -> bool:
    """Write the list rows of one job, unless the job is changed meanwhile or cannot be read."""
    index = {**rows.row_of(row.job_id, f"n|{row.job_id}", store.shards), "Current": checksum(row.packed)}
    try:
        shown = listed.current_row(row.stored.job, store.shards)
        await store.write(row.job_id, Operation("merge", index, row.etag), Operation("upsert", shown))
    except (Refused, Unreadable):
        return False
    except Misuse as error:  # a newer version put more into the record than a row of a list can hold
        log.warning("job %s is listed as it was: %s", row.job_id, error)
        return False
    return True


class _Listed(NamedTuple):
    """How many jobs of a shard were listed, and whether these were all."""

    number: int
    whole: bool


async def _active(store: Store, shard: int, end: float) -> _Listed:
    """How many active jobs of a shard were corrected, and whether these were all."""
    entities = await store.rows(replace(rows.range_of(shard, "n"), etags=True))
    old = [row for row in store.legible(entities, rows.active_of) if not row.listed_now]
    number = 0
    for at in range(0, len(old), _ROWS):
        if asyncio.get_running_loop().time() > end:
            return _Listed(number, False)
        number += await relist_active(store, old[at : at + _ROWS])
    return _Listed(number, True)


async def _shard(store: Store, shard: int, first: str, end: float) -> _Listed:
    """How many jobs of a shard were put into lists, and whether these were all."""
    number = 0
    while True:
        range_ = Range(rows.partition(shard), first, "f}", select=("RowKey", "Listed"), limit=_ROWS)
        entities = await store.rows(range_)
        old = [str(row["RowKey"]) for row in entities if not row.get("Listed")]
        for at in range(0, len(old), _PARALLEL):
            if asyncio.get_running_loop().time() > end:
                return _Listed(number, False)
            number += sum(await asyncio.gather(*(_job(store, key) for key in old[at : at + _PARALLEL])))
        if len(entities) < _ROWS:
            return _Listed(number, True)
        first = f"{entities[-1]['RowKey']}!"


async def _job(store: Store, ended: str) -> bool:
    """Put one job into the lists, by the key of its row `f|`, unless it is archived meanwhile."""
    job_id = ended.rpartition("|")[2]
    record = await store.row(job_id, f"j|{job_id}")
    job = store.perhaps(record.row, rows.job_of) if record is not None else None
    if record is None or job is None or job.archived:
        return False
    # The guard writes the record. The time of the write before it still counts, so it is kept.
    stored = rows.text_of(rows.stored_of(record.row, record.written))
    guard = {**rows.row_of(job_id, f"j|{job_id}", store.shards), "Stored": stored}
    end_row = {**rows.row_of(job_id, ended, store.shards), "Listed": True}
    new = [*listed.shown_rows(job, store.shards), end_row]
    try:
        await store.write(
            job_id, Operation("merge", guard, record.etag), *(Operation("upsert", row) for row in new)
        )
    except Refused:
        return False  # another process changed it: the next run checks
    except Misuse as error:
        log.warning("job %s is not put into the lists: %s", job_id, error)
        return False
    return True
