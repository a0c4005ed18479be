"""Jobs that only an operator can help: they wait, say so, can be cancelled, and go on when it is mended."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.sealing import AesSeal
from shared.core.errors import Transient
from shared.core.job import Job, JobState, Reason
from shared.core.view import whole
from shared.operate.audit import audit
from shared.operate.ends.cancel import cancel
from shared.operate.ready import ready
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import CLUSTER, Engines, World, job_json

SECRET = {"secrets": [{"name": "TOKEN", "value": "canary-77"}]}
OTHER_KEY = AesSeal([base64.b64encode(b"x" * 32).decode()])


async def waiting(world: World, **properties: Any) -> Job:
    """A job that was accepted and not submitted yet."""
    world.policy(paused=True)
    job = (await world.message({"spec": job_json(**properties)})).job
    world.policy(paused=False)
    assert job.state is JobState.ACCEPTED
    return job


async def locked(world: World) -> Job:
    """A job whose secrets no key opens any more."""
    job = await waiting(world, **SECRET)
    world.use(seal=OTHER_KEY)
    await world.make_pass()
    return await world.job(job.id)


def _without_the_cluster(world: World) -> None:
    world.use(engines=Engines(world.engine, {"other": replace(CLUSTER, name="other")}))


@pytest.mark.parametrize("seal", [OTHER_KEY, AesSeal([])], ids=["wrong", "lost"])
async def test_a_seal_key_that_does_not_fit_parks_a_job_with_the_reason_and_a_fitting_one_frees_it(
    world: World, seal: AesSeal
) -> None:
    right = world.ports.seal
    job = await waiting(world, **SECRET)
    world.use(seal=seal)
    await world.make_pass()
    held = await world.job(job.id)
    assert held.state is JobState.SUBMITTING
    since = world.now.isoformat(timespec="seconds")
    assert held.message.startswith(f"waits for the deployment to be mended since {since}: ")
    assert "SLIPWAY_SEAL_KEY" in whole(held)["message"]
    assert world.engine.started == []

    world.use(seal=right)
    await world.make_pass(600)
    assert (await world.job(job.id)).state is JobState.QUEUED


async def test_a_parked_job_is_cancelled_by_the_next_sweep(world: World) -> None:
    job = await locked(world)
    assert (await cancel(world.ports, job.id)).job.cancel
    await world.make_pass()
    ended = await world.job(job.id)
    assert (ended.state, world.engine.started) == (JobState.CANCELLED, [])


async def test_a_cancelled_job_whose_submission_may_have_landed_is_still_looked_for(world: World) -> None:
    class Silent(MemoryEngine):
        async def submit(self, order: Any) -> None:
            await super().submit(order)
            raise Transient("no answer")

    world.engine = Silent()
    world.use(engines=Engines(world.engine))
    job = (await world.message({"spec": job_json(**SECRET)})).job
    assert (job.state, len(world.engine.started)) == (JobState.SUBMITTING, 1)
    world.use(seal=OTHER_KEY)
    await cancel(world.ports, job.id)
    for _ in range(3):
        await world.make_pass()
    assert (await world.job(job.id)).state is JobState.CANCELLED
    assert {observation.state for observation in world.engine.jobs.values()} == {JobState.CANCELLED}


async def test_the_waits_of_a_parked_job_grow_and_its_beginning_stands(world: World) -> None:
    job = await locked(world)
    begun = job.message
    writes = 0
    for _ in range(120):
        before = await world.job(job.id)
        await world.make_pass(60)
        writes += (await world.job(job.id)).sequence > before.sequence
    assert (await world.job(job.id)).message == begun
    assert writes <= 15


async def test_a_parked_job_says_since_when_it_is_parked_not_since_when_it_waits(world: World) -> None:
    world.engine.fail = [Transient("no answer")]
    job = (await world.message({"spec": job_json(**SECRET)})).job
    world.use(seal=OTHER_KEY)

    await world.make_pass(60)

    since = world.now.isoformat(timespec="seconds")
    assert f"mended since {since}: " in (await world.job(job.id)).message


async def test_a_job_whose_document_is_gone_is_parked(world: World) -> None:
    job = await waiting(world)
    (key,) = [key for key in world.ledger.held if key[1] == f"s|{job.id}"]
    del world.ledger.held[key]

    await world.make_pass()

    held = await world.job(job.id)
    assert held.state is JobState.SUBMITTING
    assert held.message.endswith(f"the spec of {job.id} is missing from the ledger")


async def test_health_counts_parked_jobs_and_the_audit_names_them_until_they_go_on(world: World) -> None:
    right = world.ports.seal
    job = await locked(world)
    assert (await ready(world.ports)).parked == 1
    (one,) = (await audit(world.ports)).differences
    assert (one.kind, one.what) == ("settings", job.id)
    assert "SLIPWAY_SEAL_KEY" in one.message

    world.use(seal=right)
    await world.make_pass(600)
    world.ports.memo.forget("ready")
    assert (await ready(world.ports)).parked == 0
    assert (await audit(world.ports)).differences == []


async def test_a_cluster_that_is_missing_for_a_while_ends_no_job_that_waits_for_it(world: World) -> None:
    engines = world.ports.engines
    job = await waiting(world)
    _without_the_cluster(world)
    for _ in range(5):
        await world.make_pass()
    held = await world.job(job.id)
    assert held.state is JobState.ACCEPTED
    assert held.message.startswith("waits for the deployment to be mended since 2026-01-01T12:01:00+00:00: ")
    assert held.message.endswith("cluster dev is not configured")
    assert [(one.kind, one.what) for one in (await audit(world.ports)).differences] == [("settings", job.id)]
    assert (await ready(world.ports)).parked == 1

    world.use(engines=engines)
    await world.make_pass(600)
    assert (await world.job(job.id)).state is JobState.QUEUED


async def test_a_job_that_waits_for_a_missing_cluster_can_be_cancelled(world: World) -> None:
    job = await waiting(world)
    _without_the_cluster(world)
    await world.make_pass()
    assert (await cancel(world.ports, job.id)).job.state is JobState.CANCELLED


@pytest.mark.parametrize("lost", ["the seal key", "the secret"])
async def test_an_event_that_our_settings_keep_from_its_receiver_says_so_and_loses_no_try(
    world: World, lost: str
) -> None:
    right = {"seal": world.ports.seal, "secrets": world.ports.secrets}
    job = (await world.message({"spec": job_json(), "notify": [{"url": "https://a.example.com/x?y=1"}]})).job
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    broken: dict[str, Any] = {"seal": OTHER_KEY} if lost == "the seal key" else {"secrets": {}}
    world.use(**broken)
    for _ in range(30):
        await world.make_pass(3600)

    (notice,) = [one for one in await world.outbox.events(job.id) if one.state == "pending"]
    assert {delivery.try_count for delivery in notice.deliveries if delivery.webhook} == {0}
    assert (await ready(world.ports)).settings_wrong
    (one,) = (await audit(world.ports)).differences
    assert (one.kind, one.what) == ("settings", notice.event_id)
    assert "SLIPWAY_" in one.message
    assert "example.com/x" not in one.message

    world.use(**right)
    await world.make_pass(600)
    assert len(world.webhooks.posts) == 1
    assert (await audit(world.ports)).differences == []


async def test_another_attempt_waits_for_its_cluster_too(world: World) -> None:
    engines = world.ports.engines
    job = (await world.message({"spec": job_json(), "retry": {"user": 1}})).job
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.USER, exit_code=1)
    _without_the_cluster(world)
    for _ in range(5):
        await world.make_pass(600)
    held = await world.job(job.id)
    assert (held.state, held.attempt) == (JobState.ACCEPTED, 2)

    world.use(engines=engines)
    await world.make_pass(600)
    assert ((await world.job(job.id)).state, len(world.engine.started)) == (JobState.QUEUED, 2)


async def test_a_new_job_for_a_cluster_that_is_not_configured_is_refused(world: World) -> None:
    accepted = await world.message({"spec": job_json(), "cluster": "nowhere"})
    assert accepted.job.state is JobState.REJECTED
