"""After the retention, the record of a job sweep goes into the archive, and a duplicate joins what stays."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shared.core.errors import Unreadable
from shared.core.job_sweeps.record import JobSweep
from shared.core.ports import Posted
from shared.lifecycle.archive import archive
from shared.operate.job_sweeps import cancel_sweep
from tests.crash.invariants.swept_jobs import wrongly_swept
from tests.unit.lifecycle.job_sweeps.swept import accepted_sweep, end, read_sweep, reported_ends, swept_jobs
from tests.unit.world import World

DAY = 86_400


async def _ended(world: World) -> JobSweep:
    sweep = await accepted_sweep(world, labels={"team": "vision"}, idempotencyKey="k")
    await world.make_pass()
    for job in await swept_jobs(world, sweep):
        end(world, job)
    await world.make_pass()
    assert len(reported_ends(world)) == 1
    return await read_sweep(world, sweep.id)


def _keys(world: World, sweep: JobSweep) -> list[str]:
    return sorted(key.partition("|")[0] for _, key in world.ledger.rows if sweep.id in key and key[0] != "g")


async def test_the_line_of_another_sweep_is_not_shown_as_that_of_the_archived_one(world: World) -> None:
    sweep = await _ended(world)
    world.pass_time(31 * DAY)
    await archive(world.ports)
    for name, lines in world.archive.blobs.items():
        world.archive.blobs[name] = lines.replace(sweep.id.encode(), b"s_" + b"a" * 24)
    with pytest.raises(Unreadable, match="of the archive cannot be read"):
        await read_sweep(world, sweep.id)


async def test_a_sweep_leaves_when_its_retention_is_over_and_not_before(world: World) -> None:
    sweep = await _ended(world)
    assert _keys(world, sweep) == ["e", "v", "w"]
    world.pass_time(30 * DAY - 60)
    await archive(world.ports)
    assert _keys(world, sweep) == ["e", "v", "w"]

    world.pass_time(120)
    await archive(world.ports)
    await archive(world.ports)

    assert _keys(world, sweep) == ["w"]
    assert wrongly_swept(world) == []


async def test_an_archived_sweep_is_shown_and_joined_as_before(world: World) -> None:
    sweep = await _ended(world)
    world.pass_time(31 * DAY)
    await archive(world.ports)

    assert await read_sweep(world, sweep.id) == sweep
    assert (await cancel_sweep(world.ports, sweep.id)).ended == sweep.ended
    again = await accepted_sweep(world, labels={"team": "vision"}, idempotencyKey="k")
    assert again == sweep
    assert len(world.ledger.jobs) == 4
    accepted = await world.message({"spec": {}, "sweep": {"a": [1]}, "idempotencyKey": "k"}, "m3")
    assert accepted.job.state.value == "rejected"


async def test_of_a_cleared_archive_the_counts_stay(world: World) -> None:
    sweep = await _ended(world)
    world.pass_time(31 * DAY)
    await archive(world.ports)
    world.archive.blobs.clear()

    tombstone = await read_sweep(world, sweep.id)

    assert (tombstone.counts, tombstone.name, tombstone.total) == (sweep.counts, "tune", 4)
    assert tombstone.labels == tombstone.parameters == {}


async def test_a_damaged_line_is_an_error_with_its_place(world: World) -> None:
    sweep = await _ended(world)
    world.pass_time(31 * DAY)
    await archive(world.ports)
    for name in world.archive.blobs:
        world.archive.blobs[name] = b"x" * 10_000

    with pytest.raises(Unreadable, match="of the archive"):
        await read_sweep(world, sweep.id)


async def test_a_sweep_whose_event_is_on_its_way_stays(world: World) -> None:
    sweep = await accepted_sweep(world)
    await world.make_pass()
    for job in await swept_jobs(world, sweep):
        end(world, job)
    world.webhooks.answers = [Posted("retry", 503, "503", None, 1)]
    await world.make_pass()
    assert "o" in _keys(world, sweep)
    world.policy(retention=timedelta(minutes=3))
    world.pass_time(600)

    await archive(world.ports)

    assert (await read_sweep(world, sweep.id)).archived == ""
    assert "v" in _keys(world, sweep)
