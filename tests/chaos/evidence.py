"""What is left after a run, read where it stands: the log of the jobs, the ledger, the receiver's log."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from azure.data.tables.aio import TableServiceClient

from shared.adapters.storage import rows
from shared.core.job import Job
from tests.chaos.checker import Delivery, Record

_ENDS = ("succeeded", "failed", "cancelled", "lost", "rejected")


def starts(log: Path) -> list[tuple[str, str]]:
    """Job id and attempt of each start, as the jobs themselves wrote them."""
    if not log.exists():
        return []
    return [(job, attempt) for job, _, attempt in map(_words, log.read_text().splitlines())]


def _words(line: str) -> tuple[str, str, str]:
    return line.partition(" ")


async def records(connection_string: str, table: str) -> list[Record]:
    """Every job of the ledger, with the rows that still wait for something.

    The record of a job that has not ended stands in the row by which it waits.
    """
    waiting: Counter[str] = Counter()
    goldens: dict[str, Job] = {}
    async with TableServiceClient.from_connection_string(connection_string) as service:
        async for row in service.get_table_client(table).query_entities(
            "PartitionKey ge 's' and PartitionKey lt 't'"
        ):
            kind, _, rest = str(row["RowKey"]).partition("|")
            if kind in ("n", "o"):
                waiting[rest.partition("|")[0]] += 1
            if kind in ("j", "n") and not rows.is_stub(row):
                job = rows.record_of(row)
                goldens[job.id] = job
    return [
        Record(job.id, job.name, job.state.value, job.attempt, waiting[job.id]) for job in goldens.values()
    ]


def deliveries_of(log: Path) -> list[Delivery]:
    """Every delivery that the receiver wrote down."""
    results = []
    for line in log.read_text().splitlines() if log.exists() else ():
        one = json.loads(line)
        state = str(one["type"] or "").removeprefix("io.slipway.job.").removesuffix(".v1")
        results.append(
            Delivery(
                job=str(one["subject"] or "").removeprefix("jobs/"),
                event=str(one["id"]),
                terminal=state in _ENDS,
                verified=one["verified"],
                accepted=200 <= one["status"] <= 299,
                body=one["digest"],
            )
        )
    return results
