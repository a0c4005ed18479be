"""Reads every row that something waits for; the store notes those that cannot be read."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator

from shared.adapters.storage import rows
from shared.adapters.storage.checks.readers import READERS
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Range, Row
from shared.core.each import each
from shared.core.ledger.kinds import DROPS, KINDS, SHARDS, RowKind, kind_of


async def check_rows(store: ShardedTable, jobs: Collection[str], noted: Iterable[str]) -> None:
    """Read all rows of the kinds that the audit reads, those of some jobs and sweeps, and some by name."""
    answers = await asyncio.gather(
        *(store.rows(one) for kind in KINDS if kind.is_audited for one in _ranges(store, kind))
    )
    for row in (row for answer in answers for row in answer):
        _check(store, row)
    sweeps = [
        str(row["RowKey"])[2:] for answer in answers for row in answer if str(row["RowKey"]).startswith("p|")
    ]
    keys = [(job_id, f"{kind}|{job_id}") for kind in "js" for job_id in jobs]
    keys += [(sweep_id, f"{kind}|{sweep_id}") for kind in "ws" for sweep_id in sweeps]
    names = [(rows.partition(rows.shard_of(one, store.shards)), key) for one, key in keys]
    names += [(partition, key) for partition, _, key in (name.partition("/") for name in noted)]

    async def one(name: tuple[str, str]) -> None:
        stored = await store.get(*name)
        if stored is not None:
            _check(store, stored.row)

    await each(dict.fromkeys(names), one)


def _check(store: ShardedTable, row: Row) -> None:
    kind = kind_of(f"{row['PartitionKey']}/{row['RowKey']}")
    if kind is not None:
        store.perhaps(row, READERS[kind])


def _ranges(store: ShardedTable, kind: RowKind) -> Iterator[Range]:
    """The rows of a kind, in each of its partitions."""
    last = f"{kind.key[:-1]}}}" if kind.key.endswith("|") else f"{kind.key}~" if kind.key else ""
    shards = range(store.shards)
    partitions = {SHARDS: map(rows.partition, shards), DROPS: (f"{DROPS}{n:03d}" for n in shards)}
    for partition in partitions.get(kind.partition, (kind.partition,)):
        yield Range(partition, kind.key, last)
