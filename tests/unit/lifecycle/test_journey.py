"""One job's way through accept, dispatch, sweeper and deliver."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from shared.core.errors import Conflict, Misconfigured, Rejected, Saturated, Transient
from shared.core.job import JobState, Reason
from shared.core.ports import Posted
from shared.intake.arrive import message_arrived
from shared.operate.ends.cancel import cancel
from tests.unit.world import World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}


async def test_a_message_becomes_a_job_that_runs_ends_and_is_reported(world: World) -> None:
    accepted = await world.message({"spec": job_json(), "name": "mnist", "notify": [HOOK]})

    job = accepted.job
    assert accepted.created
    assert job.state is JobState.QUEUED
    assert world.engine.started == [job.target.name if job.target else ""]

    name = world.engine.started[0]
    world.engine.set_state(name, JobState.RUNNING)
    assert (await world.make_pass()).changed == 1
    assert (await world.job(job.id)).state is JobState.RUNNING

    world.engine.set_state(name, JobState.SUCCEEDED, exit_code=0)
    await world.make_pass()
    done = await world.job(job.id)
    assert done.state is JobState.SUCCEEDED
    assert [entry.state.value for entry in done.history] == [
        "accepted",
        "submitting",
        "queued",
        "running",
        "succeeded",
    ]
    (event,) = world.events()
    assert event["type"] == "io.slipway.job.succeeded.v1"
    assert event["subject"] == f"jobs/{job.id}"
    assert world.receipt(done)["state"] == "succeeded"
    for shard in range(world.ledger.shards):
        assert await world.ledger.active(shard) == []
        assert await world.outbox.undelivered(shard, world.now.replace(year=2030), timedelta(days=9)) == []


async def test_the_same_message_again_joins_the_first_and_starts_nothing(world: World) -> None:
    first = await world.message(job_json(), "m1")
    second = await world.message(job_json(), "m1")

    assert not second.created
    assert second.job.id == first.job.id
    assert len(world.engine.started) == 1


async def test_two_messages_with_the_same_document_are_two_jobs(world: World) -> None:
    first = await world.message(job_json(), "m1")
    second = await world.message(job_json(), "m2")

    assert first.job.id != second.job.id
    assert len(world.engine.started) == 2


async def test_an_invalid_document_becomes_a_rejected_record_with_its_receipt_and_event(world: World) -> None:
    bad: dict[str, Any] = job_json(nodeCuont=2, nodeCount="two")
    accepted = await world.message({"spec": bad, "notify": [HOOK]})

    await world.wake()
    job = accepted.job
    assert job.state is JobState.REJECTED
    assert job.reason is Reason.INVALID
    pointers = {p["pointer"] for p in job.problems}
    assert {"/spec/properties/nodeCuont", "/spec/properties/nodeCount"} <= pointers
    assert world.engine.started == []
    assert b"nodeCuont" in world.drops.receipt_files[f"{job.receipt}/diagnostics.txt"]
    assert world.events()[0]["type"] == "io.slipway.job.rejected.v1"


@pytest.mark.parametrize("error", [Transient("no answer"), Saturated("quota"), Misconfigured("login")])
async def test_an_engine_that_fails_leaves_the_job_to_the_sweeper_with_the_same_name(
    world: World, error: Any
) -> None:
    world.engine.fail = [error]
    accepted = await world.message(job_json())
    assert accepted.job.state is JobState.SUBMITTING
    assert accepted.job.message

    await world.make_pass(3600)

    job = await world.job(accepted.job.id)
    assert job.state is JobState.QUEUED
    assert job.message == ""
    assert len(world.engine.started) == 1


@pytest.mark.parametrize("error", [Rejected("toolkit"), Conflict("taken")])
async def test_an_engine_that_refuses_fails_the_job_and_says_why(world: World, error: Any) -> None:
    world.engine.fail = [error]
    accepted = await world.message({"spec": job_json(), "notify": [HOOK]})
    await world.wake()

    assert accepted.job.state is JobState.FAILED
    assert accepted.job.message == str(error)
    assert world.events()[0]["data"]["message"] == str(error)


async def test_a_submission_whose_answer_was_lost_is_repeated_and_recognised(world: World) -> None:
    world.engine.fail = [Transient("lost")]
    accepted = await world.message(job_json())
    target = accepted.job.target
    assert target is not None
    # The call had landed after all.
    world.engine.tokens[target.name] = target.token
    world.engine.set_state(target.name, JobState.RUNNING)

    await world.make_pass(3600)
    await world.make_pass()

    assert (await world.job(accepted.job.id)).state is JobState.RUNNING
    assert world.engine.started == []


async def test_an_unreachable_engine_changes_nothing(world: World) -> None:
    accepted = await world.message(job_json())
    world.engine.fail = [Transient("down")]

    counts = await world.make_pass()

    assert counts.unreachable == ("dev",)
    assert (await world.job(accepted.job.id)).state is JobState.QUEUED


async def test_a_job_is_lost_only_after_repeated_spaced_evidence(world: World) -> None:
    accepted = await world.message({"spec": job_json(), "notify": [HOOK]})
    world.engine.jobs.clear()

    states = []
    for _ in range(8):
        await world.make_pass(60)
        states.append((await world.job(accepted.job.id)).state)

    assert states[0] is JobState.QUEUED
    assert states[3] is JobState.QUEUED
    assert states[-1] is JobState.LOST
    assert world.events()[-1]["data"]["state"] == "lost"


async def test_a_job_that_comes_back_is_not_lost(world: World) -> None:
    accepted = await world.message(job_json())
    backup = dict(world.engine.jobs)
    world.engine.jobs.clear()
    await world.make_pass(60)
    assert (await world.job(accepted.job.id)).misses == 1

    world.engine.jobs.update(backup)
    await world.make_pass(60)

    assert (await world.job(accepted.job.id)).misses == 0


async def test_preemption_takes_a_running_job_back_to_queued(world: World) -> None:
    accepted = await world.message(job_json())
    name = world.engine.started[0]
    for state in (JobState.RUNNING, JobState.QUEUED, JobState.RUNNING, JobState.SUCCEEDED):
        world.engine.set_state(name, state)
        await world.make_pass()
        assert (await world.job(accepted.job.id)).state is state


async def test_credentials_are_filled_in_at_submission_and_never_stored(world: World) -> None:
    mounts = {
        "azureBlobFileSystems": [
            {"accountName": "acct", "containerName": "data", "relativeMountPath": "data"}
        ]
    }
    accepted = await world.message(job_json(mountVolumes=mounts))

    assert accepted.job.state is JobState.QUEUED, accepted.job.problems
    assert "storage-key" in str(world.engine.orders[0].document)
    assert "storage-key" not in str(world.ledger.rows) + str(world.drops.receipt_files)


async def test_secret_values_are_sealed_before_the_first_write_and_opened_for_the_engine(
    world: World,
) -> None:
    secrets = [{"name": "TOKEN", "value": "canary-4711"}]
    accepted = await world.message(job_json(secrets=secrets))

    assert accepted.job.state is JobState.QUEUED, accepted.job.problems
    assert "canary-4711" in str(world.engine.orders[0].document)
    assert "canary-4711" not in str(world.ledger.rows) + str(world.drops.receipt_files)
    assert "sealed:v1:" in str(world.ledger.rows)


async def test_a_key_that_is_taken_by_another_payload_gets_a_rejected_record_of_its_own(world: World) -> None:
    first = await world.message({"spec": job_json(), "idempotencyKey": "k"}, "m1")
    other = {"spec": job_json(nodeCount=2), "idempotencyKey": "k"}
    second = await world.message(other, "m2")
    again = await world.message(other, "m2")

    assert second.job.state is JobState.REJECTED
    errors = [problem for problem in second.job.problems if problem["severity"] == "error"]
    assert [error["code"] for error in errors] == ["SW108"]
    assert first.job.id in errors[0]["message"]
    assert not again.created
    assert len(world.engine.started) == 1


async def test_one_conflicting_element_of_a_batch_spoils_no_other(world: World) -> None:
    def event(number: int, spec: Any) -> dict[str, Any]:
        data = {"spec": spec, "idempotencyKey": f"k{number}"}
        type_ = "io.slipway.job.submit.v1"
        return {"specversion": "1.0", "id": str(number), "source": "/ci", "type": type_, "data": data}

    await world.message(event(1, job_json()))
    body = json.dumps([event(1, job_json(nodeCount=2)), event(2, job_json())]).encode()
    accepted = await message_arrived(world.ports, body, "m2")

    assert [a.job.state for a in accepted] == [JobState.REJECTED, JobState.QUEUED]


async def test_text_of_an_engine_that_is_no_text_stops_neither_the_job_nor_the_sweep(world: World) -> None:
    one = await world.message({"spec": job_json(), "notify": [HOOK]}, "m1")
    two = await world.message(job_json(), "m2")
    broken, fine = world.engine.started
    world.engine.set_state(broken, JobState.FAILED, message="half \ud800 of it\x1b[31m")
    world.engine.set_state(fine, JobState.SUCCEEDED)

    await world.make_pass()

    assert (await world.job(one.job.id)).message == "half ? of it [31m"
    assert (await world.job(two.job.id)).state is JobState.SUCCEEDED


async def test_a_defect_in_one_job_stops_no_other(world: World) -> None:
    for n in range(3):
        await world.message(job_json(), f"m{n}")
    for name in world.engine.started:
        world.engine.set_state(name, JobState.RUNNING)
    first = next(key for key in world.ledger.rows if key[1].startswith("n|"))
    world.ledger.rows[first]["Packed0"] = "not a record"

    assert (await world.make_pass()).changed == 2


async def test_an_event_that_cannot_be_read_keeps_no_pass_from_its_work(world: World) -> None:
    world.webhooks.answers = [Posted("retry", 503, "503", None, 1)]
    await world.message(
        {"spec": job_json(), "notify": [{"url": "https://h.example.com", "events": ["accepted"]}]}
    )
    event = next(key for key in world.ledger.rows if key[1].startswith("o|"))
    world.ledger.rows[event]["Notice0"] = "not an event"
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)

    assert (await world.make_pass(3600)).changed == 1


async def test_a_job_that_the_cluster_never_took_is_cancelled_at_once(world: World) -> None:
    world.engine.fail = [Saturated("quota")] * 2
    job = (await world.message(job_json())).job
    await cancel(world.ports, job.id)
    await world.make_pass()

    ended = await world.job(job.id)
    assert (ended.state, ended.reason) == (JobState.CANCELLED, Reason.TERMINATED)
    assert ended.message == "cancelled; the cluster had not taken it: quota"
    assert world.engine.started == []


async def test_many_problems_fit_into_the_record(world: World) -> None:
    wide = {"p" * 500 + str(n): n for n in range(150)}
    accepted = await world.message({"spec": {"properties": {**job_json()["properties"], **wide}}})

    assert accepted.job.state is JobState.REJECTED
    assert 0 < len(json.dumps(accepted.job.problems)) < 100_000


async def test_after_a_rejection_the_key_may_be_used_for_the_mended_document(world: World) -> None:
    bad = await world.message({"spec": job_json(nodeCount=-1), "idempotencyKey": "k"}, "m1")
    good = await world.message({"spec": job_json(), "idempotencyKey": "k"}, "m2")

    assert bad.job.state is JobState.REJECTED
    assert good.created
    assert good.job.state is JobState.QUEUED
    assert good.job.generation == 2
