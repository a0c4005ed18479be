"""Finished records leave the table; what stays of them makes every late duplicate join."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import Misuse, Unreadable
from shared.core.job import Job, JobState
from shared.core.ports import Posted
from shared.intake.arrive import blob_arrived
from shared.intake.drops.inventory import inventory
from shared.intake.rerun import rerun
from shared.lifecycle.archive import Archived, archive
from shared.lifecycle.lookup import job as read_job
from shared.lifecycle.lookup import visible
from shared.operate.redeliver import events_of, redeliver_event, redeliver_job
from tests.doubles.memory import MemoryArchive
from tests.unit.lifecycle.test_meter import Counting
from tests.unit.world import World, job_json

HOOK = {"url": "https://hooks.example.com/x?code=canary-42", "events": ["running", "succeeded"]}
DAY = 86_400


async def ended(world: World, message: str = "m1") -> Job:
    accepted = await world.message({"spec": job_json(), "notify": [HOOK], "labels": {"a": "b"}}, message)
    for state in (JobState.RUNNING, JobState.SUCCEEDED):
        world.engine.set_state(world.engine.started[-1], state)
        await world.make_pass()
    return await world.job(accepted.job.id)


async def archived(world: World) -> Job:
    job = await ended(world)
    world.pass_time(31 * DAY)
    assert (await archive(world.ports)).jobs == 1
    return job


def keys(world: World) -> list[str]:
    """The kinds of the rows of all jobs."""
    return sorted(key.partition("|")[0] for _, key in world.ledger.rows if "|" in key)


async def test_a_record_leaves_when_its_retention_is_over_and_not_before(world: World) -> None:
    await ended(world)
    world.pass_time(30 * DAY - 60)
    assert (await archive(world.ports)).jobs == 0
    world.pass_time(120)
    assert (await archive(world.ports)).jobs == 1
    assert keys(world) == ["j"]
    assert (await archive(world.ports)).jobs == 0


async def test_a_job_that_waited_for_its_turn_leaves_nothing_else(world: World) -> None:
    world.policy(max_jobs_per_hour=1)
    await world.message(job_json(), "m0")
    await world.message(job_json(), "m1")
    assert "t" in keys(world)
    await world.make_pass(3600)
    for name in world.engine.started:
        world.engine.set_state(name, JobState.SUCCEEDED)
    await world.make_pass()
    world.pass_time(31 * DAY)
    assert (await archive(world.ports)).jobs == 2
    assert keys(world) == ["j", "j"]


async def test_a_retention_of_zero_keeps_everything(world: World) -> None:
    world.policy(retention=timedelta(0))
    await ended(world)
    world.pass_time(4000 * DAY)
    assert await archive(world.ports) == Archived(0, 0)


async def test_a_tombstone_is_small_and_holds_nothing_that_a_person_wrote_for_others(world: World) -> None:
    await archived(world)
    ((_, row),) = world.ledger.rows.items()
    assert len(json.dumps(row)) < 900
    assert "hooks.example.com" not in json.dumps(row)


async def test_an_archived_job_is_read_as_it_ended(world: World) -> None:
    job = await archived(world)
    result = (await read_job(world.ports, job.id)).job
    assert result.archived
    assert result.model_copy(update={"archived": ""}) == job
    assert [event.sequence for event in await events_of(world.ports, job.id)] == [4, 5]


async def test_a_job_whose_line_is_gone_names_its_receipt(world: World) -> None:
    job = await archived(world)
    world.archive.blobs.clear()
    with pytest.raises(Misuse, match="archived") as refused:
        await read_job(world.ports, job.id)
    assert refused.value.status == 410
    assert f"runs/{job.receipt}/receipt.json" in refused.value.remedy


async def test_the_line_of_another_job_is_not_shown_as_that_of_the_archived_one(world: World) -> None:
    job = await archived(world)
    ((name, line),) = world.archive.blobs.items()
    other = "j_" + "a" * 24
    world.archive.blobs[name] = line.replace(job.id.encode(), other.encode())
    with pytest.raises(Unreadable, match="of the archive cannot be read"):
        await read_job(world.ports, job.id)


async def test_a_duplicate_of_an_archived_job_joins_it_however_late(world: World) -> None:
    job = await archived(world)
    world.pass_time(4000 * DAY)
    accepted = await world.message({"spec": job_json(), "notify": [HOOK], "labels": {"a": "b"}}, "m1")
    assert (accepted.created, accepted.job.id) == (False, job.id)
    assert len(world.engine.started) == 1


async def test_the_same_key_with_another_document_is_refused_as_before(world: World) -> None:
    await archived(world)
    other = await world.message({"spec": job_json(nodeCount=2), "notify": [HOOK]}, "m1")
    assert other.job.state is JobState.REJECTED
    assert len(world.engine.started) == 1


async def drop(world: World, *, upload: bool = True) -> list[Job]:
    if upload:
        command = {"commandLine": "python $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/d/train.py"}
        world.drops.upload("d/train.py", b"print(1)")
        world.drops.upload("d/job.json", json.dumps(job_json(customToolkitSettings=command)).encode())
        world.pass_time(10)
    looked = await blob_arrived(world.ports, "scripts", "d/job.json")
    return [accepted.job for accepted in looked.accepted if accepted.created]


async def dropped_and_archived(world: World) -> Job:
    (job,) = await drop(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    world.pass_time(31 * DAY)
    assert (await archive(world.ports)).jobs == 1
    return job


async def test_neither_event_nor_inventory_starts_an_archived_drop_again(world: World) -> None:
    await dropped_and_archived(world)
    assert await drop(world, upload=False) == []
    for key in [key for key in world.ledger.rows if key[0].startswith("d")]:
        del world.ledger.held[key]
    await inventory(world.ports)
    assert await drop(world, upload=False) == []
    assert len(world.engine.started) == 1


async def test_an_archived_drop_that_is_dropped_again_runs_again(world: World) -> None:
    first = await dropped_and_archived(world)
    (second,) = await drop(world)
    assert (second.generation, second.id != first.id) == (2, True)


async def test_what_was_dropped_again_before_the_archiving_runs_although_its_event_is_late(
    world: World,
) -> None:
    (job,) = await drop(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    world.pass_time(DAY)
    world.drops.upload("d/job.json", world.drops.blobs["d/job.json"][0])
    world.pass_time(31 * DAY)
    assert (await archive(world.ports)).jobs == 1
    (second,) = await drop(world, upload=False)
    assert second.id != job.id


async def test_old_paths_and_those_of_folders_that_are_gone_are_forgotten(world: World) -> None:
    await drop(world)
    await inventory(world.ports)
    assert len(await world.ledger.drop_memos()) == 1
    world.pass_time(8 * DAY)
    await inventory(world.ports)
    assert await world.ledger.drop_memos() == {}
    assert await drop(world, upload=False) == []


async def test_a_job_with_an_event_on_its_way_waits(world: World) -> None:
    job = await ended(world)
    world.webhooks.answers = [Posted("retry", 503, "503", None, 1)]
    (event, _) = await events_of(world.ports, job.id)
    world.pass_time(31 * DAY)
    await redeliver_event(world.ports, event.event_id)
    assert (await archive(world.ports)).jobs == 0
    assert len(await events_of(world.ports, job.id)) == 2


async def test_archived_events_are_shown_and_not_sent_again(world: World) -> None:
    job = await archived(world)
    posts = len(world.webhooks.posts)
    with pytest.raises(Misuse, match="not sent again") as refused:
        await redeliver_job(world.ports, job.id)
    assert refused.value.status == 410
    assert len(world.webhooks.posts) == posts


async def test_an_event_that_was_given_up_goes_with_its_job(world: World) -> None:
    world.webhooks.answers = [Posted("gone", 410, "410", None, 1)]
    await ended(world)
    assert "x" in keys(world)
    world.pass_time(31 * DAY)
    await archive(world.ports)
    assert keys(world) == ["j"]


async def test_an_archived_job_can_be_run_again_by_its_receipt(world: World) -> None:
    world.policy(receipts=True)
    job = await archived(world)
    again = await rerun(world.ports, job.id, world.receipt(job), who=KEY_HOLDER, key="k")
    assert again.created
    assert again.job.state is JobState.QUEUED


async def test_jobs_of_a_shard_share_a_blob_and_two_timers_do_the_work_of_one(world: World) -> None:
    for number in range(12):
        await ended(world, f"m{number}")
    world.pass_time(31 * DAY)
    done = await asyncio.gather(*(archive(world.ports) for _ in range(2)))
    assert len(world.archive.blobs) <= world.ledger.shards
    assert max(one.jobs for one in done) == 12
    assert keys(world) == ["j"] * 12


async def test_batches_follow_each_other_within_one_run(world: World) -> None:
    world.policy(archive_batch=2)
    for number in range(12):
        await ended(world, f"m{number}")
    world.pass_time(31 * DAY)
    assert (await archive(world.ports)).jobs == 12
    assert len(world.archive.blobs) >= 6


@pytest.mark.long
async def test_a_job_with_more_events_than_a_transaction_holds_is_archived_whole(world: World) -> None:
    accepted = await world.message({"spec": job_json(), "notify": [HOOK | {"events": ["queued", "running"]}]})
    for _ in range(60):
        for state in (JobState.RUNNING, JobState.QUEUED):
            world.engine.set_state(world.engine.started[0], state)
            await world.make_pass()
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    world.pass_time(31 * DAY)

    assert (await archive(world.ports)).jobs == 1
    assert keys(world) == ["j"]
    assert len(await events_of(world.ports, accepted.job.id)) > 120


async def test_a_record_that_cannot_be_read_keeps_no_other(world: World) -> None:
    bad = await ended(world)
    await ended(world, "m2")
    key = next(key for key in world.ledger.rows if key[1] == f"j|{bad.id}")
    world.ledger.held[key].row["Record0"] = "{"
    world.pass_time(31 * DAY)
    assert (await archive(world.ports)).jobs == 1


async def test_what_was_archived_is_counted_and_lies_under_the_day_of_its_end(world: World) -> None:
    world.use(meter=(meter := Counting()))
    job = (await world.message(job_json())).job
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass(3 * DAY)
    assert await archive(world.ports) == Archived(0, 0)
    assert ("slipway.jobs.archived",) not in meter.counts
    world.pass_time(31 * DAY)

    assert await archive(world.ports) == Archived(1, 1)
    assert meter.counts["slipway.jobs.archived",] == 1
    assert (await world.job(job.id)).archived.startswith("2026/01/04/")


async def test_anyone_who_may_not_see_a_job_gets_the_answer_that_there_is_none(world: World) -> None:
    job = await archived(world)
    for caller, result in ((KEY_HOLDER, True), (Caller("bob", frozenset()), False)):
        assert (await visible(world.ports, job.id, caller) is not None) is result
    with pytest.raises(Misuse, match="there is no job") as error:
        await read_job(world.ports, job.id, Caller("bob", frozenset()))
    assert (error.value.status, error.value.remedy) == (404, "list the jobs: GET /api/jobs")


async def test_an_archived_line_that_is_damaged_is_named(world: World) -> None:
    class Damaged(MemoryArchive):
        async def read(self, place: Any) -> bytes | None:
            return b"{}"

    job = await archived(world)
    world.use(archive=Damaged())

    with pytest.raises(Unreadable, match=r"of the archive cannot be read: the line"):
        await read_job(world.ports, job.id)
