"""Lists over a table in which an older version wrote: it knows nothing of `Current`, and leaves it alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.storage import rows
from shared.adapters.storage.finished_rows import TableFinishedJobs
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.lists import listed
from shared.adapters.storage.lists.listing import Bounds
from shared.adapters.storage.store import Store
from shared.adapters.storage.table import Operation
from shared.core.job import Job, JobState
from shared.core.ledger.listing import Query, brief
from shared.core.ledger.records import Active
from shared.lifecycle.archive import archive
from tests.doubles.memory import MemoryLedger
from tests.unit.operate.test_listing import aged
from tests.unit.world import World, job_json

RUNNING = JobState.RUNNING
QUERIES = [Query(), Query(states=frozenset({RUNNING})), Query(experiment="e")]


async def submitted(world: World, number: int = 3) -> list[str]:
    """Jobs that the cluster has queued, newest first."""
    ids = []
    for n in range(number):
        message = {"spec": job_json(), "experiment": "e", "name": f"n{n}"}
        ids.append((await world.message(message, f"m{n}")).job.id)
        world.pass_time(1)
    return ids[::-1]


async def moved_by_older(world: World, job_id: str, to: JobState) -> None:
    """The write of a version that shows active jobs by their index rows."""
    stored = await world.ledger.get(job_id)
    assert stored is not None
    job = stored.job.move(to, now=world.now, token="older").after
    shards = world.ledger.shards
    if not to.terminal:
        await _write(world, Operation("merge", rows.active_row(job, shards), stored.etag))
        return
    await _write(
        world,
        Operation("delete", rows.row_of(job_id, f"n|{job_id}", shards), stored.etag),
        Operation("replace", rows.record_row(job, shards)),
        Operation("create", rows.ended_row(job, shards)),
        *(Operation("upsert", row) for row in listed.shown_rows(job, shards)),
    )


async def _write(world: World, *operations: Operation) -> None:
    columns_known = [
        replace(one, row={name: one.row[name] for name in one.row if _is_older(name)}) for one in operations
    ]
    await world.ledger.table.transact(columns_known)


def _is_older(column: str) -> bool:
    return not column.startswith("Current")


async def archived_by_older(world: World) -> None:
    """The timer of an older version ran: it says until when the lists are complete."""
    until = {"PartitionKey": "meta", "RowKey": "layout", "Listed": rows.sortable(world.now)}
    await _write(world, Operation("upsert", until))


def renewed(world: World) -> Store:
    """A process that starts now: its store."""
    ledger = MemoryLedger(world.clock, table=world.ledger.table)
    world.use(ledger=ledger, finished=TableFinishedJobs(ledger.store))
    return ledger.store


async def shown(world: World, query: Query | None = None) -> dict[str, Job]:
    page = await world.ports.ledger.find(query or Query(), limit=50, after=None)
    assert not page.cut
    return {job.id: job for job in page.jobs}


async def recorded(world: World, *ids: str) -> dict[str, Job]:
    """What lists have to show of some jobs."""
    return {job_id: brief(await world.job(job_id)) for job_id in ids}


async def stale(world: World) -> list[Active]:
    """The index rows that are not shown in the list of all jobs."""
    result = [row for n in range(world.ledger.shards) for row in await world.ledger.active(n)]
    return [row for row in result if not row.listed_now]


def row_of(world: World, job_id: str) -> dict[str, Any]:
    (only,) = [held.row for (_, key), held in world.ledger.held.items() if _lists(key, job_id)]
    return only


def _lists(key: str, job_id: str) -> bool:
    return key.startswith("l|") and key.endswith(job_id)


@pytest.mark.parametrize("query", QUERIES, ids=["all", "state", "experiment"])
async def test_a_sweep_lists_what_an_older_version_moved_on_beside_this_one(
    world: World, query: Query
) -> None:
    ids = await submitted(world)
    for name in world.engine.started:
        world.engine.set_state(name, RUNNING)
    for job_id in ids:
        await moved_by_older(world, job_id, RUNNING)
    assert len(await stale(world)) == 3

    swept = await world.sweep()

    assert swept.changed == 0
    assert await stale(world) == []
    assert await shown(world, query) == await recorded(world, *ids)
    before = dict(world.ledger.held)
    await world.sweep()
    assert world.ledger.held == before


async def test_after_an_older_version_ran_for_long_a_process_believes_no_row_before_the_lists_are_checked(
    world: World,
) -> None:
    first, *rest = await submitted(world)
    await moved_by_older(world, first, RUNNING)
    world.pass_time(60)
    await archived_by_older(world)
    store = renewed(world)
    assert await shown(world) == await recorded(world, first, *rest)
    assert not await store.current()

    world.pass_time(60)
    await archive(world.ports)

    assert await stale(world) == []
    assert await store.current()
    assert await renewed(world).current()
    assert await shown(world) == await recorded(world, first, *rest)


async def test_a_process_that_waits_for_the_check_sees_that_another_one_has_done_it(world: World) -> None:
    await submitted(world)
    await archived_by_older(world)
    store, other = renewed(world), renewed(world)
    assert not await store.current()
    await other.set_listed(rows.sortable(world.now))
    assert await store.current()


async def test_what_an_older_version_ended_is_listed_as_it_ended(world: World) -> None:
    first, *rest = await submitted(world)
    await moved_by_older(world, first, JobState.SUCCEEDED)
    assert "Current0" in row_of(world, first)
    assert await shown(world) == await recorded(world, first, *rest)


async def test_a_job_that_has_ended_shows_nothing_of_before(world: World) -> None:
    (job_id,) = await submitted(world, 1)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.sweep()
    assert row_of(world, job_id)["Current0"] == ""
    assert await shown(world) == await recorded(world, job_id)


async def test_an_older_version_shows_no_active_job_by_its_row(world: World) -> None:
    (job_id,) = await submitted(world, 1)
    assert listed.shown_of(row_of(world, job_id)) is None


@pytest.mark.parametrize("which", [[0], [1, 2], [0, 1, 2]], ids=str)
async def test_rows_that_show_nothing_are_completed_by_a_sweep_and_listed_before(
    world: World, which: list[int]
) -> None:
    ids = await submitted(world)
    for n in which:
        await _bare(world, ids[n])
    renewed(world)
    assert await shown(world) == await recorded(world, *ids)

    await world.sweep()

    assert all(row_of(world, job_id)["Current0"] for job_id in ids)
    assert await shown(world) == await recorded(world, *ids)


async def _bare(world: World, job_id: str) -> None:
    """The rows of an active job as an older version made them."""
    for key, held in list(world.ledger.held.items()):
        if key[1].endswith(job_id):
            row = {name: value for name, value in held.row.items() if _is_older(name)}
            world.ledger.held[key] = replace(held, row=row)


async def test_the_table_of_an_older_version_is_completed_by_the_archive(world: World) -> None:
    ids = await submitted(world)
    for job_id in ids:
        await _bare(world, job_id)
    aged(world)
    store = renewed(world)
    assert await shown(world) == await recorded(world, *ids)
    assert not await store.current()
    await archive(world.ports)
    assert await stale(world) == []
    assert await store.current()
    assert await shown(world) == await recorded(world, *ids)


async def test_an_archive_without_time_says_nothing_of_active_jobs(world: World) -> None:
    (job_id,) = await submitted(world, 1)
    await _bare(world, job_id)
    aged(world)
    store = renewed(world)
    world.policy(archive_deadline=-1)
    await archive(world.ports)
    assert len(await stale(world)) == 1
    assert not await store.current()


async def test_a_row_that_cannot_be_read_is_named_and_its_job_listed_by_its_index_row(world: World) -> None:
    ids = await submitted(world)
    row_of(world, ids[1])["Current0"] = "{"
    assert await shown(world) == await recorded(world, *ids)
    assert [name for name in world.ledger.store.troubles.reasons("row") if ids[1] in name]

    world.engine.set_state(world.engine.started[1], RUNNING)
    await world.sweep()
    assert listed.current_of(row_of(world, ids[1])) == brief(await world.job(ids[1]))


async def test_a_job_that_moves_on_meanwhile_is_listed_as_it_moved_on(world: World) -> None:
    ids = await submitted(world)
    for job_id in ids:
        await _bare(world, job_id)
    old = [row for n in range(world.ledger.shards) for row in await _with_versions(world, n)]
    world.engine.set_state(world.engine.started[0], RUNNING)
    await world.sweep()
    assert await world.ledger.relist(old) == 0
    assert await shown(world) == await recorded(world, *ids)


async def _with_versions(world: World, shard: int) -> list[Active]:
    return (await world.ledger.unfinished(shard, world.now, world.ports.policy.longest_delivery_wait)).jobs


async def test_a_record_that_cannot_be_read_keeps_no_other_from_the_list(world: World) -> None:
    ids = await submitted(world)
    for job_id in ids:
        await _bare(world, job_id)
    (index,) = [held.row for (_, key), held in world.ledger.held.items() if key == f"n|{ids[0]}"]
    index["Packed0"] = "not packed"
    await world.sweep()
    assert [row.job_id for row in await stale(world)] == [ids[0]]
    assert {job_id for job_id in ids if row_of(world, job_id).get("Current0")} == set(ids[1:])


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_pages_have_each_job_once_though_all_end_between_them(world: World, limit: int) -> None:
    ids = await submitted(world, 6)
    page = await world.ledger.find(Query(), limit=limit, after=None)
    result = [job.id for job in page.jobs]
    for name in world.engine.started:
        world.engine.set_state(name, JobState.SUCCEEDED)
    await world.sweep()
    while page.next is not None:
        page = await world.ledger.find(Query(), limit=limit, after=page.next)
        assert all(job.state is JobState.SUCCEEDED for job in page.jobs)
        result += [job.id for job in page.jobs]
    assert result == ids


async def test_a_record_too_large_for_a_list_stops_no_archive(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """A newer version, which was rolled back, put something into it that is packed in the index row alone."""
    large, other = await submitted(world, 2)
    stored = await world.ledger.get(large)
    assert stored is not None
    job = stored.job.note(now=world.now, token="newer", newer="A" * 600_000).after
    row = {
        name: value for name, value in rows.active_row(job, world.ledger.shards).items() if name != "Current"
    }
    await world.ledger.table.transact([Operation("merge", row, stored.etag)])

    await archive(world.ports)
    await world.sweep()

    assert large in caplog.text
    page = await world.ledger.find(Query(), limit=9, after=None)
    assert {one.id for one in page.jobs} == {large, other}


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
