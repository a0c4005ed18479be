"""One try to submit: what a cluster gets, what its answer means, and when the next try is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.core.engine import Observation, Order
from shared.core.errors import Busy, Conflict, EngineError, Misconfigured, Rejected, Saturated, Transient
from shared.core.identity import target
from shared.core.job import Job, JobState, Reason
from shared.core.pacing.breaker import Breaker
from shared.core.relations.before import AFTER
from shared.core.relations.contents import SAVED
from shared.core.trouble import OPERATOR_NEEDED
from shared.lifecycle.clusters.calling import cluster_path
from shared.lifecycle.dispatch import dispatch, repeat, submit
from shared.lifecycle.packages import VARIABLE as PACKAGES
from shared.operate.ends.cancel import cancel
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.lifecycle.permits import permit_of, submit_accepted, verdict_of
from tests.unit.lifecycle.test_outages import JOB
from tests.unit.world import Engines, World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}


async def accepted(world: World) -> Job:
    """A job that was accepted and not submitted yet."""
    world.policy(paused=True)
    job = (await world.message(JOB)).job
    world.policy(paused=False)
    return job


# What is not to be submitted


async def test_a_job_that_was_submitted_meanwhile_is_not_submitted_again(world: World) -> None:
    job = (await world.message(JOB)).job
    calls = world.engine.calls

    assert await verdict_of(world, job.id) is None
    await repeat(world.ports, job.id)

    assert world.engine.calls == calls
    assert (await world.job(job.id)).state is JobState.QUEUED


async def test_a_permit_is_void_once_its_record_has_changed(world: World) -> None:
    job = await accepted(world)
    permit = await permit_of(world, job.id)
    await cancel(world.ports, job.id)

    assert await dispatch(world.ports, permit) is None

    assert world.engine.calls == 0
    assert (await world.job(job.id)).state is JobState.CANCELLED


async def test_of_two_processes_with_a_permit_for_one_job_one_submits_it(world: World) -> None:
    job = await accepted(world)
    first, second = [await permit_of(world, job.id) for _ in range(2)]

    results = [await dispatch(world.ports, permit) for permit in (first, second)]

    assert results[1] is None
    assert len(world.engine.orders) == 1


async def test_a_job_that_is_gone_meanwhile_is_nothing_to_submit(world: World) -> None:
    await repeat(world.ports, "j_gone")

    assert world.engine.calls == 0


async def test_a_job_whose_cluster_is_not_configured_stays_with_a_word(world: World) -> None:
    job = await accepted(world)
    world.use(engines=replace(world.ports.engines, clusters={}))  # type: ignore[type-var]

    await submit_accepted(world, job.id)

    after = await world.job(job.id)
    assert after.state is JobState.ACCEPTED
    assert "cluster dev is not configured" in after.message


async def test_while_it_is_submitted_no_other_process_submits_it_as_well(world: World) -> None:
    class Looks(MemoryEngine):
        async def submit(self, order: Order) -> Observation | None:
            held.append(await world.job(job.id))
            return await super().submit(order)

    held: list[Job] = []
    job = await accepted(world)
    world.use(engines=Engines(Looks()))

    await submit_accepted(world, job.id)

    assert [one.due - world.now for one in held] == [timedelta(seconds=world.ports.policy.submit_lease)]


async def test_what_was_recorded_while_the_cluster_was_asked_is_kept(world: World) -> None:
    class Slow(MemoryEngine):
        async def submit(self, order: Order) -> Observation | None:
            await cancel(world.ports, order.target.token.rpartition(".")[0])
            return await super().submit(order)

    world.engine = Slow()
    world.use(engines=Engines(world.engine))

    await submit_accepted(world, (job := await accepted(world)).id)  # which is not an error

    assert ((await world.job(job.id)).state, (await world.job(job.id)).cancel) == (JobState.SUBMITTING, True)
    await world.make_pass(700)
    await world.make_pass()
    assert (await world.job(job.id)).state is JobState.CANCELLED


async def test_a_try_that_was_not_made_or_not_recorded_gives_back_the_record_that_it_had(
    world: World,
) -> None:
    job = await _answered(world, Transient("no answer"))
    stored = await world.ledger.get(job.id)
    assert stored is not None
    world.use(breaker=Breaker(failures=1))
    world.ports.breaker.failed(cluster_path("memory", "dev"), world.now)
    assert await submit(world.ports, stored) is stored

    world.use(breaker=Breaker())
    await cancel(world.ports, job.id)
    assert await submit(world.ports, stored) is stored


# What the cluster gets


async def test_a_variable_that_a_job_sets_itself_stays_and_none_hides_whose_attempt_it_is(
    world: World,
) -> None:
    ours = ("SLIPWAY_ATTEMPT", "SLIPWAY_SAVED")
    theirs = [{"name": "EPOCHS", "value": "3"}, *({"name": name, "value": "9"} for name in ours)]
    job = (await world.message(job_json(environmentVariables=theirs))).job

    (order,) = world.engine.orders
    assert order.document["properties"]["environmentVariables"] == [
        {"name": "SLIPWAY_TOKEN", "value": f"{job.id}.1"},
        {"name": "SLIPWAY_JOB_ID", "value": job.id},
        {"name": "SLIPWAY_ATTEMPT", "value": "1"},
        {"name": "PYTHONUNBUFFERED", "value": "1"},
        {"name": "EPOCHS", "value": "3"},
    ]


@pytest.mark.parametrize("kind", ["environmentVariables", "secrets"])
async def test_a_job_may_have_pythons_buffer_back(world: World, kind: str) -> None:
    await world.message(job_json(**{kind: [{"name": "PYTHONUNBUFFERED", "value": ""}]}))

    properties = world.engine.orders[0].document["properties"]
    every = [*properties["environmentVariables"], *properties.get("secrets", ())]
    assert [one["value"] for one in every if one["name"] == "PYTHONUNBUFFERED"] == [""]


async def test_the_key_of_an_account_goes_to_its_share_in_the_configured_cloud(world: World) -> None:
    completion = world.ports.policy.completion
    world.policy(completion=replace(completion, storage_suffix="core.chinacloudapi.cn"))
    share = {
        "accountName": "acct",
        "azureFileUrl": "https://acct.file.core.chinacloudapi.cn/logs",
        "relativeMountPath": "logs",
    }
    await world.message(job_json(mountVolumes={"azureFileShares": [share]}))

    (order,) = world.engine.orders
    (mounted,) = order.document["properties"]["mountVolumes"]["azureFileShares"]
    assert mounted["credentials"] == {"accountKey": "storage-key"}


# What its answer means


class _Answers(MemoryEngine):
    """Takes nothing, and answers each submission with the same error."""

    error: Exception

    async def submit(self, order: Order) -> Observation | None:
        raise self.error


async def _answered(world: World, error: Exception) -> Job:
    """A job that was just submitted, and that the cluster did not take."""
    engine = _Answers()
    engine.error = error
    world.engine = engine
    world.use(engines=Engines(engine))
    return (await world.message(JOB)).job


@pytest.mark.parametrize(
    ("error", "action"), [(Saturated("no quota"), "saturated"), (Misconfigured("no login"), "parked")]
)
async def test_what_an_alert_looks_for_is_logged_with_the_job(
    world: World, caplog: pytest.LogCaptureFixture, error: Exception, action: str
) -> None:
    job = await _answered(world, error)

    assert [vars(line)["job"] for line in caplog.records if vars(line).get("action") == action] == [job.id]


@pytest.mark.parametrize(
    ("error", "seconds", "word", "message"),
    [
        (Saturated("no quota"), 300, "Saturated", "waits for capacity: no quota"),
        (
            Transient("reset " + "x" * 300),
            2,
            "NoAnswer",
            f"the engine did not answer (reset {'x' * 194}); the call is repeated with the same name",
        ),
        (
            TimeoutError(),
            2,
            "NoAnswer",
            "the engine did not answer (no answer in time); the call is repeated with the same name",
        ),
        (
            Busy("Slurm: Required node not available"),
            2,
            "NotNow",
            "the engine cannot take it now (Slurm: Required node not available); the call is repeated "
            "with the same name",
        ),
    ],
)
async def test_a_job_that_was_not_taken_says_why_and_until_when_it_waits(
    world: World, error: Exception, seconds: float, word: str, message: str
) -> None:
    job = await _answered(world, error)

    assert (job.state, job.message) == (JobState.SUBMITTING, message)
    assert job.waiting is not None
    assert (job.waiting.word, job.waiting.text[:100]) == (word, message[:100])
    assert job.due - world.now == timedelta(seconds=seconds)


async def test_a_cluster_that_does_not_answer_is_asked_at_growing_distances(world: World) -> None:
    world.use(breaker=Breaker(failures=1000))
    job = await _answered(world, Transient("reset"))
    waits = []
    for _ in range(10):
        waits.append((job.due - world.now).total_seconds())
        await world.make_pass(waits[-1])
        job = await world.job(job.id)

    assert waits == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


async def test_however_soon_chance_has_it_a_second_passes_between_two_tries(world: World) -> None:
    world.use(jitter=lambda: 0.0)
    job = await _answered(world, Transient("reset"))

    assert job.due - world.now == timedelta(seconds=1)


async def test_a_job_of_someone_else_by_the_same_name_is_not_taken_for_ours(world: World) -> None:
    job = await accepted(world)
    name = target(job, 1, "memory").name
    world.engine.tokens[name] = "of another"
    world.engine.set_state(name, JobState.RUNNING)

    await world.make_pass()

    after = await world.job(job.id)
    assert (after.state, after.reason) == (JobState.FAILED, Reason.INFRASTRUCTURE)
    assert "belongs to another job" in after.message


@pytest.mark.parametrize("error", [Rejected("no such image"), Conflict("taken")])
async def test_a_refusal_at_the_door_is_reported_at_once(world: World, error: EngineError) -> None:
    world.engine.fail = [error]

    job = (await world.message({"spec": job_json(), "notify": [HOOK]})).job

    assert job.state is JobState.FAILED
    assert world.events()[-1]["type"] == "io.slipway.job.failed.v1"


async def test_a_name_of_another_job_is_no_answer_to_a_submission_before(world: World) -> None:
    """Nothing is asked, and nothing waited for: what has the name is not from any submission of this job."""
    world.engine.fail = [Transient("reset")]
    stored = await world.ledger.get((await world.message(JOB)).job.id)
    assert stored is not None
    assert stored.job.state is JobState.SUBMITTING
    world.engine.fail = [Conflict("taken"), Transient("this would be a question")]

    after = await submit(world.ports, stored)

    assert after.job.state is JobState.FAILED
    assert len(world.engine.fail) == 1


async def test_the_cancellation_of_a_job_that_may_be_submitted_already_waits_for_an_answer(
    world: World,
) -> None:
    job = await _answered(world, Transient("reset"))
    await cancel(world.ports, job.id)

    await world.make_pass(7200)

    assert ((await world.job(job.id)).state, (await world.job(job.id)).cancel) == (JobState.SUBMITTING, True)
    assert (await world.job(job.id)).message.endswith("with the same name, and the job is cancelled then")


async def test_what_a_parked_job_waits_for_has_its_time_beside_it_and_not_in_it(world: World) -> None:
    job = await _answered(world, Misconfigured("no role"))

    assert job.waiting is not None
    assert job.waiting.text == f"{OPERATOR_NEEDED}: no role"
    assert job.message == f"{OPERATOR_NEEDED} since {world.now.isoformat(timespec='seconds')}: no role"


async def test_each_variable_that_slipway_sets_for_every_job_is_known_to_the_rule(world: World) -> None:
    await world.message(job_json())
    names = [one["name"] for one in world.engine.orders[0].document["properties"]["environmentVariables"]]

    for name in (*(one for one in names if one.startswith("SLIPWAY_")), SAVED, PACKAGES, f"{AFTER}3_MODEL"):
        job = (
            await world.message(job_json(environmentVariables=[{"name": name, "value": "mine"}]), name)
        ).job
        assert ("SW042", "warning") in [(one["code"], one["severity"]) for one in job.problems], name
