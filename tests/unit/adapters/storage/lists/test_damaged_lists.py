"""Lists over rows that are damaged, and of jobs that end between two pages."""

from __future__ import annotations

from typing import Any

import pytest

from shared.adapters.storage import rows
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.lists import listed
from shared.adapters.storage.lists.listing import Bounds
from shared.adapters.storage.table import Operation
from shared.core.job import Job, JobState
from shared.core.ledger.listing import Query, brief
from tests.unit.world import World, job_json

RUNNING = JobState.RUNNING


async def submitted(world: World, number: int = 3) -> list[str]:
    """Jobs that the cluster has queued, newest first."""
    ids = []
    for n in range(number):
        message = {"spec": job_json(), "experiment": "e", "name": f"n{n}"}
        ids.append((await world.message(message, f"m{n}")).job.id)
        world.pass_time(1)
    return ids[::-1]


async def shown(world: World, query: Query | None = None) -> dict[str, Job]:
    page = await world.ports.ledger.find(query or Query(), limit=50, after=None)
    assert not page.cut
    return {job.id: job for job in page.jobs}


async def recorded(world: World, *ids: str) -> dict[str, Job]:
    """What lists have to show of some jobs."""
    return {job_id: brief(await world.job(job_id)) for job_id in ids}


def row_of(world: World, job_id: str) -> dict[str, Any]:
    (only,) = [held.row for (_, key), held in world.ledger.held.items() if _lists(key, job_id)]
    return only


def _lists(key: str, job_id: str) -> bool:
    return key.startswith("l|") and key.endswith(job_id)


async def test_a_row_that_cannot_be_read_is_named_and_its_job_listed_by_its_record(world: World) -> None:
    ids = await submitted(world)
    row_of(world, ids[1])["Shown0"] = "{"
    assert await shown(world) == await recorded(world, *ids)
    assert [name for name in world.ledger.store.troubles.reasons("row") if ids[1] in name]

    world.engine.set_state(world.engine.started[1], RUNNING)
    await world.make_pass()
    assert listed.shown_of(row_of(world, ids[1])) == brief(await world.job(ids[1]))


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_pages_have_each_job_once_though_all_end_between_them(world: World, limit: int) -> None:
    ids = await submitted(world, 6)
    page = await world.ledger.find(Query(), limit=limit, after=None)
    result = [job.id for job in page.jobs]
    for name in world.engine.started:
        world.engine.set_state(name, JobState.SUCCEEDED)
    await world.make_pass()
    while page.next is not None:
        page = await world.ledger.find(Query(), limit=limit, after=page.next)
        assert all(job.state is JobState.SUCCEEDED for job in page.jobs)
        result += [job.id for job in page.jobs]
    assert result == ids


async def test_a_damaged_key_ends_no_list(world: World) -> None:
    for n in range(40):
        await world.message({"spec": job_json(), "name": f"n{n}"}, f"m{n}")
        world.pass_time(1)
    for shard in range(world.ledger.shards):
        first = min(k for p, k in world.ledger.held if p == rows.partition(shard) and k.startswith("l|"))
        damaged = {"PartitionKey": rows.partition(shard), "RowKey": f"{first[:17]}|j_zzBAD", "Source": ""}
        await world.ledger.table.transact([Operation("create", damaged)])
    ledger = TableLedger(world.ledger.store, Bounds(seconds=-1.0))

    result, after, pages = set[str](), None, 0
    while pages == 0 or after:
        page = await ledger.find(Query(name="n0"), limit=1, after=after)
        result |= {job.name for job in page.jobs}
        after, pages = page.next, pages + 1
        assert pages < 99

    assert result == {"n0"}
