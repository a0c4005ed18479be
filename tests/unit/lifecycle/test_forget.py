"""What clusters keep of a job is removed before its record is archived, and never earlier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from shared.core.errors import Misconfigured, Transient
from shared.core.job import Budget, Job, JobState, Reason, Target
from shared.lifecycle.archive import archive
from shared.lifecycle.clusters.calling import cluster_path
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import CLUSTER, Engines, World, job_json

DAY = 86_400
MONTH = 31 * DAY


@dataclass
class Keeps(MemoryEngine):
    """An engine that says what was to be forgotten, and keeps what the test names."""

    targets: Sequence[Target] = ()
    keeps: Sequence[str] = ()

    async def forget(self, cluster: str, targets: Sequence[Target]) -> frozenset[str]:
        self.targets = targets
        await super().forget(cluster, [one for one in targets if one.name not in self.keeps])
        return frozenset(self.keeps)


@pytest.fixture
def engine(world: World) -> Keeps:
    created = world.engine = Keeps()
    world.use(engines=Engines(created))
    return created


async def ended(world: World, message: str = "m1") -> Job:
    accepted = await world.message({"spec": job_json()}, message)
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()
    return await world.job(accepted.job.id)


async def is_archived(world: World, job: Job) -> bool:
    return bool((await world.job(job.id)).archived)


async def test_every_attempt_is_forgotten_and_not_before_the_retention_is_over(
    world: World, engine: Keeps
) -> None:
    accepted = await world.message({"spec": job_json(), "retry": {"user": 1}})
    world.engine.set_state(engine.started[-1], JobState.FAILED, reason=Reason.USER, exit_code=1)
    await world.make_pass()
    await world.make_pass(1800)
    world.engine.set_state(engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()
    job = await world.job(accepted.job.id)
    assert (job.attempt, job.spent) == (2, Budget(user=1))
    await archive(world.ports)
    assert not engine.targets

    world.pass_time(MONTH)
    assert (await archive(world.ports)).jobs == 1

    assert [one.name for one in engine.targets] == engine.started
    assert [one.token for one in engine.targets] == [f"{job.id}.1", f"{job.id}.2"]
    assert engine.jobs == {}


async def test_a_job_of_which_something_is_left_waits_and_keeps_no_other_from_the_archive(
    world: World, engine: Keeps
) -> None:
    one, two = await ended(world, "m1"), await ended(world, "m2")
    world.pass_time(MONTH)
    engine.keeps = engine.started[:1]
    assert (await archive(world.ports)).jobs == 1
    assert (await is_archived(world, one), await is_archived(world, two)) == (False, True)

    engine.keeps = ()
    assert (await archive(world.ports)).jobs == 1
    assert await is_archived(world, one)


@pytest.mark.parametrize("error", [Transient("no answer"), Misconfigured("no key"), ValueError("a defect")])
async def test_a_cluster_that_cannot_be_asked_delays_the_archive_by_a_week_at_most(
    world: World, engine: Keeps, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    job = await ended(world)
    world.pass_time(MONTH)
    engine.fail = [error]  # type: ignore[list-item]
    assert (await archive(world.ports)).jobs == 0
    assert not (await world.job(job.id)).archived

    world.pass_time(6 * DAY - 1)
    engine.fail = [error]  # type: ignore[list-item]
    assert (await archive(world.ports)).jobs == 0
    assert "may keep something" not in caplog.text

    world.pass_time(1)
    engine.fail = [error]  # type: ignore[list-item]
    assert (await archive(world.ports)).jobs == 1
    assert f"{job.id} is archived; {job.cluster} may keep something of it" in caplog.text


async def test_a_cluster_that_is_slow_to_forget_is_still_watched(world: World, engine: Keeps) -> None:
    await ended(world)
    world.pass_time(MONTH)
    for _ in range(20):
        engine.fail = [Transient("no answer")]
        assert (await archive(world.ports)).jobs == 0
    later = (await world.message({"spec": job_json()}, "later")).job
    world.engine.set_state(engine.started[-1], JobState.RUNNING)
    await world.make_pass()
    assert (await world.job(later.id)).state is JobState.RUNNING


async def test_a_cluster_that_is_left_alone_is_not_asked_to_forget(world: World, engine: Keeps) -> None:
    await ended(world)
    world.pass_time(MONTH)
    for _ in range(20):
        world.ports.breaker.failed(cluster_path(CLUSTER.engine, CLUSTER.name), world.now)
    calls = engine.calls
    assert (await archive(world.ports)).jobs == 0
    assert engine.calls == calls
    world.pass_time(3600)
    assert (await archive(world.ports)).jobs == 1


async def test_a_cluster_that_is_configured_no_more_delays_nothing(world: World, engine: Keeps) -> None:
    await ended(world)
    world.use(engines=replace(world.ports.engines, clusters={}))  # type: ignore[type-var]
    world.pass_time(MONTH)
    assert (await archive(world.ports)).jobs == 1
    assert not engine.targets


async def test_a_job_that_no_cluster_was_given_is_archived_without_one(world: World, engine: Keeps) -> None:
    await world.message({"spec": job_json(nodeCount=-1)})
    world.pass_time(MONTH)
    engine.down = True
    assert (await archive(world.ports)).jobs == 1
