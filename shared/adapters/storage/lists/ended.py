"""Jobs that have ended since a moment, read from the rows by the time of their end: some columns of them."""

from __future__ import annotations

import asyncio
from datetime import datetime

from shared.adapters.storage import rows
from shared.adapters.storage.lists import listed
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Range, Row, text_at
from shared.core.cost.usage import Usage
from shared.core.ledger.ended import Ended, EndedJobs
from shared.core.states import JobState

_SELECT = ("RowKey", "Source", "State", "Team", "Experiment", "Name", "Error", *listed.NUMBERS, "Ran")


async def ended_since(store: ShardedTable, since: datetime, most: int) -> EndedJobs:
    """The newest ends of each shard, at most `most`, by a range query of a shard."""
    last = f"{listed.BY_END}{rows.listed(since)}}}"
    answers = await asyncio.gather(
        *(
            store.rows(Range(rows.partition(shard), listed.BY_END, last, select=_SELECT, limit=most))
            for shard in range(store.shards)
        )
    )
    shards = [store.legible(answer, _ended_of) for answer in answers]
    # Of a shard with more, nothing is known before its last row.
    reached = [
        jobs[-1].at for jobs, answer in zip(shards, answers, strict=True) if len(answer) == most and jobs
    ]
    since = max([since, *reached])
    return EndedJobs(tuple(job for jobs in shards for job in jobs if job.at >= since), since)


def _ended_of(row: Row) -> Ended:
    _, job_id, at = listed.turn_of(row)
    return Ended(
        id=job_id,
        at=at,
        state=JobState(row["State"]),
        source=text_at(row, "Source"),
        team=text_at(row, "Team"),
        experiment=text_at(row, "Experiment"),
        name=text_at(row, "Name"),
        error=text_at(row, "Error"),
        usage=Usage(1, *(float(row[name]) for name in listed.NUMBERS)),
        ran=float(row["Ran"]),
    )
