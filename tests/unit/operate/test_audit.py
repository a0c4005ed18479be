"""Each kind of difference between drops, ledger, clusters and deliveries is found, and none is made up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.admission.pauses import pause
from shared.core.engine import Observation
from shared.core.errors import Transient
from shared.core.job import Job, JobState
from shared.core.ports import Posted
from shared.intake.arrive import blob_arrived
from shared.intake.dead_letter import bury
from shared.operate.audit import audit
from shared.operate.audit_report import Audit
from slipway.commands.audit import lines
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import Engines, World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}


async def _queued(world: World, **envelope: Any) -> Job:
    return (await world.message({"spec": job_json(), **envelope})).job


def _kinds(result: Audit) -> list[tuple[str, str]]:
    return [(one.kind, one.what) for one in result.differences]


async def test_a_healthy_deployment_has_no_difference(world: World) -> None:
    world.drops.upload("digits/run/job.json", json.dumps(job_json()).encode())
    world.drops.upload("digits/half/job.json", json.dumps(_with_script()).encode())
    world.pass_time(10)
    await blob_arrived(world.ports, "scripts", "digits/run/job.json")
    await _queued(world, notify=[HOOK])
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    await world.wake()
    world.pass_time(1000)

    report = await audit(world.ports)

    assert _kinds(report) == []
    assert report.counted == {"active": 1, "ended": 1, "drops": 1, "undelivered": 0, "dead": 0}


def _with_script() -> dict[str, Any]:
    script = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/half/train.py"
    return job_json(customToolkitSettings={"commandLine": f"python {script}"})


async def test_a_complete_folder_without_a_job(world: World) -> None:
    world.drops.upload("digits/run/job.json", json.dumps(job_json()).encode())
    assert _kinds(await audit(world.ports)) == []  # its event may still come
    world.pass_time(400)
    assert _kinds(await audit(world.ports)) == [("drop", "digits/run/")]


async def test_a_drop_whose_record_is_gone(world: World) -> None:
    world.drops.upload("digits/run/job.json", json.dumps(job_json()).encode())
    world.pass_time(10)
    (accepted,) = (await blob_arrived(world.ports, "scripts", "digits/run/job.json")).accepted
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    for key in [key for key in world.ledger.held if accepted.job.id in key[1] and key[1][0] in "jl"]:
        del world.ledger.held[key]
    assert _kinds(await audit(world.ports)) == [("record", accepted.job.id)]


async def test_a_submission_that_no_pass_repeats(world: World) -> None:
    class Silent(MemoryEngine):
        async def submit(self, order: Any) -> None:
            raise Transient("no answer")

    world.use(engines=Engines(Silent()))
    job = await _queued(world)
    world.pass_time(3600 + 700)
    assert _kinds(await audit(world.ports)) == [("submission", job.id)]
    await pause(world.ports, "ann", "")
    assert _kinds(await audit(world.ports)) == []


async def test_a_job_that_its_cluster_does_not_know(world: World) -> None:
    job = await _queued(world)
    world.engine.jobs.clear()
    assert _kinds(await audit(world.ports)) == [("cluster", job.id)]


async def test_a_job_that_ended_on_its_cluster_long_ago(world: World) -> None:
    job = await _queued(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED, ended=world.now)
    assert _kinds(await audit(world.ports)) == []  # the sweeper may come
    world.pass_time(400)
    assert _kinds(await audit(world.ports)) == [("cluster", job.id)]


async def test_a_job_that_runs_on_although_it_ended(world: World) -> None:
    job = await _queued(world)
    world.engine.set_state(world.engine.started[0], JobState.FAILED)
    await world.make_pass()
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    world.pass_time(400)
    assert _kinds(await audit(world.ports)) == [("cluster", job.id)]


async def test_each_job_that_is_at_work_although_it_ended_or_goes_on_in_another_attempt(
    world: World,
) -> None:
    ended = await _queued(world)
    world.engine.set_state(world.engine.started[0], JobState.FAILED)
    await world.make_pass()
    goes_on = (await world.message({"spec": job_json()}, "m2")).job
    for job in (ended, goes_on):
        name = f"{job.id}-0"
        world.engine.jobs[name], world.engine.tokens[name] = Observation(JobState.QUEUED), f"{job.id}.0"
    assert _kinds(await audit(world.ports)) == []  # their cluster may be ending them
    world.pass_time(400)
    report = await audit(world.ports)

    assert sorted(_kinds(report)) == sorted([("cluster", ended.id), ("cluster", goes_on.id)])
    messages = {one.what: one.message for one in report.differences}
    assert messages[ended.id] == f"failed; still at work on dev as {ended.id}-0"
    assert messages[goes_on.id] == f"queued in another attempt; still at work on dev as {goes_on.id}-0"


async def test_a_job_on_the_cluster_of_which_there_is_no_record(world: World) -> None:
    job = await _queued(world)
    world.engine.jobs["stray-1"], world.engine.tokens["stray-1"] = Observation(JobState.RUNNING), "j_gone.1"
    world.engine.jobs["over-1"], world.engine.tokens["over-1"] = Observation(JobState.FAILED), "j_over.1"
    world.engine.jobs["retried-1"], world.engine.tokens["retried-1"] = (
        Observation(JobState.RUNNING),
        f"{job.id}.0",
    )

    report = await audit(world.ports)

    assert _kinds(report) == [("cluster", "stray-1")]
    assert "not recorded" in report.differences[0].message


async def test_a_cluster_that_cannot_be_asked_is_no_difference_and_is_named(world: World) -> None:
    await _queued(world)
    world.engine.fail.append(Transient("no answer"))
    report = await audit(world.ports)
    assert _kinds(report) == []
    assert report.unknown == ["cluster dev cannot be queried"]


@pytest.mark.parametrize(("outcome", "later"), [("retry", 2 * 86_400), ("gone", 10)])
async def test_an_event_that_is_late_or_was_given_up(world: World, outcome: Any, later: float) -> None:
    world.webhooks.answers = [Posted(outcome, 500, "no", None, 1)]
    job = await _queued(world, notify=[HOOK])
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    await world.wake()
    world.pass_time(later)
    (kind,) = {one.kind for one in (await audit(world.ports)).differences}
    assert kind == "delivery"
    assert job.id in (await audit(world.ports)).differences[0].message


async def test_a_message_that_was_given_up(world: World) -> None:
    await bury(world.ports, "jobs", "m1", b"{}", 41, ValueError())
    report = await audit(world.ports)
    assert report.counted["dead"] == 1
    assert [one.kind for one in report.differences] == ["message"]


async def test_an_end_of_which_no_event_tells(world: World) -> None:
    job = await _queued(world, notify=[HOOK])
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    await world.wake()
    assert _kinds(await audit(world.ports)) == []
    for key in [key for key in world.ledger.held if key[1][0] in "oe" and job.id in key[1]]:
        del world.ledger.held[key]
    assert _kinds(await audit(world.ports)) == [("delivery", job.id)]


def test_the_text_names_each_difference_and_the_verdict() -> None:
    one: Any = {"kind": "drop", "what": "digits/run/", "message": "a complete folder without a job"}
    text = lines(
        {"counted": {"active": 1}, "differences": [one], "unknown": ["cluster dev cannot be queried"]}
    )
    assert text[1].split()[:2] == ["drop", "digits/run/"]
    assert text[-2:] == ["not known: cluster dev cannot be queried", "1 difference (1 active)"]
    assert lines({"counted": {}, "differences": [], "unknown": []}) == ["no difference ()"]
