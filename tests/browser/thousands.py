"""Thousands of finished jobs in the ledger of a running stack, written as its rows."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from local.stack import Stack
from shared.adapters.storage import listed, rows
from shared.adapters.storage.table import Operation, Row
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.resttable import RestTable
from shared.core.identity import job_id
from shared.core.job import Entry, Job, JobState
from shared.settings import Settings

_AT_ONCE = 100


async def fill(stack: Stack, count: int) -> None:
    """Write `train-000000`, the newest, to the oldest; each hundredth has failed, and is named `odd-…`."""
    settings = Settings(stack.settings)
    shards, newest = settings.whole("SLIPWAY_SHARDS"), datetime.now(UTC) - timedelta(hours=1)
    partitions: dict[str, list[Row]] = {rows.partition(shard): [] for shard in range(shards)}
    for number in range(count):
        job = _job(number, newest)
        for row in (rows.record_row(job, shards), *listed.listed_rows(job, shards)):
            partitions[str(row["PartitionKey"])].append(row)
    account = Account(Connection(stack.storage.connection_string))
    try:
        table = RestTable(account, settings.text("SLIPWAY_LEDGER_TABLE"))
        await asyncio.gather(*(_write(table, partition) for partition in partitions.values()))
    finally:
        await account.close()


async def _write(table: RestTable, partition: list[Row]) -> None:
    for start in range(0, len(partition), _AT_ONCE):
        await table.transact([Operation("upsert", row) for row in partition[start : start + _AT_ONCE]])


def _job(number: int, newest: datetime) -> Job:
    is_odd = number % 100 == 99
    state = JobState.FAILED if is_odd else JobState.SUCCEEDED
    created = newest - timedelta(seconds=number)
    return Job(
        id=job_id(str(number), 1),
        key=str(number),
        payload="p",
        door="queue",
        name=f"{'odd' if is_odd else 'train'}-{number:06}",
        experiment=f"vision-{number % 20}",
        cluster="gpu",
        state=state,
        message="Job failed with non-zero exit code" if is_odd else "",
        created=created,
        due=created,
        started=created,
        ended=created,
        receipt=f"vision/{number}",
        history=(Entry(sequence=1, state=state, at=created, token="t"),),
    )
