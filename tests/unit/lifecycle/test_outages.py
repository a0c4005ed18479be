"""Clusters and storage that fail for a while: nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.table import Operation, Range, Row, VersionedRow
from shared.core.engine import Cluster, Engine, Observation
from shared.core.errors import Transient, Unavailable
from shared.core.job import JobState, Target
from tests.breadth import size
from tests.doubles.memory import MemoryLedger, MemoryTable
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import CLUSTER, World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}
JOB = {"spec": job_json(), "notify": [HOOK]}


async def drained(world: World, rounds: int = 30) -> None:
    """Passes, wake-ups and a cluster that goes on, until everything has ended and was reported."""
    for _ in range(rounds):
        for name, observation in list(world.engine.jobs.items()):
            if not observation.state.terminal:
                world.engine.set_state(name, JobState.SUCCEEDED)
        await world.make_pass()
        await world.wake()


def states(world: World) -> list[str]:
    return sorted(job.state.value for job in world.ledger.jobs)


def leftovers(world: World) -> list[str]:
    return [key for _, key in world.ledger.rows if key.startswith(("n|", "o|"))]


# A cluster that does not answer


@pytest.mark.long
async def test_half_an_hour_without_the_cluster_costs_few_calls_and_no_job(world: World) -> None:
    before = [(await world.message(JOB, f"before{n}")).job.id for n in range(20)]
    world.engine.down = True
    world.engine.calls = 0
    each = size(5, 2)
    for minute in range(30):
        for n in range(each):
            # Accepted as ever: the function returns, so no message can be poisoned.
            await world.message(JOB, f"down{minute}-{n}")
        await world.make_pass(60)
    # Five to learn it, and then one probe a pause of half a minute.
    assert world.engine.calls <= 5 + 2 * 30
    assert world.engine.started == [(await world.job(job)).target.name for job in before]  # type: ignore[union-attr]

    world.engine.down = False
    for _ in range(2):
        await world.make_pass(60)

    assert len(world.engine.started) == len(set(world.engine.started)) == 20 + 30 * each
    await drained(world, 3)
    assert states(world) == ["succeeded"] * (20 + 30 * each)
    assert len({identity for _, identity, _ in world.webhooks.posts}) == 20 + 30 * each
    assert leftovers(world) == []


async def test_while_the_cluster_is_left_alone_a_job_costs_its_first_write_and_no_other(world: World) -> None:
    world.engine.down = True
    for n in range(5):
        await world.message(JOB, f"m{n}")
    accepted = (await world.message(JOB, "m9")).job
    before = dict(world.ledger.held)

    for _ in range(3):
        await world.make_pass(1)

    assert {key for key, result in world.ledger.held.items() if before.get(key) != result} == set()
    assert (accepted.state, accepted.sequence) == (JobState.SUBMITTING, 2)


class _TwoEngines:
    def __init__(self, one: MemoryEngine, other: MemoryEngine) -> None:
        self._by_name = {"memory": one, "other": other}
        second = replace(CLUSTER, name="two", engine="other", id=f"{CLUSTER.id}-two")
        self.clusters: Mapping[str, Cluster] = {"dev": CLUSTER, "two": second}

    def get(self, engine: str) -> Engine:
        return self._by_name[engine]


def _with_second_cluster(world: World, other: MemoryEngine) -> None:
    engines = _TwoEngines(world.engine, other)
    names = {name: cluster.id for name, cluster in engines.clusters.items()}
    world.use(engines=engines)
    world.policy(completion=replace(world.ports.policy.completion, clusters=names))


class _Hangs(MemoryEngine):
    async def status(self, cluster: str, targets: Sequence[Target]) -> dict[str, Observation]:
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_cluster_that_hangs_keeps_no_other_from_its_news(world: World) -> None:
    _with_second_cluster(world, _Hangs())
    world.policy(ask_deadline=30)
    slow = (await world.message({**JOB, "cluster": "two"}, "m1")).job
    quick = (await world.message({**JOB, "cluster": "dev"}, "m2")).job
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)

    going = asyncio.create_task(world.make_pass())
    while not (await world.job(quick.id)).state.terminal:  # noqa: ASYNC110 - no one tells when
        await asyncio.sleep(0)

    assert not going.done()
    assert (await world.job(slow.id)).state is JobState.QUEUED
    going.cancel()


async def test_a_cluster_that_hangs_keeps_no_job_of_another_from_its_submission(world: World) -> None:
    _with_second_cluster(world, _Hangs())
    world.policy(ask_deadline=30, report_patience=0.0)
    await world.message({**JOB, "cluster": "two"}, "m1")
    world.policy(paused=True)
    waits = (await world.message({**JOB, "cluster": "dev"}, "m2")).job
    world.policy(paused=False)

    going = asyncio.create_task(world.make_pass())
    while (await world.job(waits.id)).state is JobState.ACCEPTED:  # noqa: ASYNC110 - no one tells when
        await asyncio.sleep(0)

    assert not going.done()
    going.cancel()


class _Defective(MemoryEngine):
    async def status(self, cluster: str, targets: Sequence[Target]) -> dict[str, Observation]:
        self.calls += 1
        raise ValueError("a defect")


async def test_a_defect_of_one_adapter_keeps_no_other_cluster_from_its_pass(world: World) -> None:
    defective = _Defective()
    _with_second_cluster(world, defective)
    unknown = (await world.message({**JOB, "cluster": "two"}, "m1")).job
    other_job = (await world.message({**JOB, "cluster": "dev"}, "m2")).job
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)

    counts = await world.make_pass()

    assert (counts.changed, counts.unreachable) == (1, ("two",))
    assert world.ports.troubles.reasons("cluster") == {"other/two": "a defect of its adapter; the log has it"}
    assert (await world.job(other_job.id)).state is JobState.SUCCEEDED
    assert (await world.job(unknown.id)).state is JobState.QUEUED


async def test_an_adapter_that_fails_again_and_again_is_left_alone_like_a_silent_cluster(
    world: World,
) -> None:
    defective = _Defective()
    _with_second_cluster(world, defective)
    await world.message({**JOB, "cluster": "two"}, "m1")
    defective.calls = 0
    for _ in range(8):
        await world.make_pass(1)

    assert defective.calls == 5


async def test_a_cluster_that_does_not_answer_has_a_breaker_of_its_own(world: World) -> None:
    other = MemoryEngine(down=True)
    _with_second_cluster(world, other)
    for n in range(8):
        await world.message({**JOB, "cluster": "two"}, f"two{n}")
        await world.message({**JOB, "cluster": "dev"}, f"dev{n}")

    assert (other.calls, len(world.engine.started)) == (5, 8)


# Unknown is a state of knowledge


@pytest.mark.long
async def test_an_unreachable_cluster_never_starts_a_second_copy_nor_loses_a_job(world: World) -> None:
    job = (await world.message(JOB)).job
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    world.engine.down = True
    for _ in range(size(24, 6) * 60):
        await world.make_pass(60)

    assert (await world.job(job.id)).state is JobState.RUNNING
    world.engine.down = False
    await drained(world, 3)
    assert (await world.job(job.id)).state is JobState.SUCCEEDED
    assert len(world.engine.started) == 1


async def test_a_job_that_vanished_is_lost_only_after_three_spaced_direct_looks(world: World) -> None:
    looks: list[timedelta] = []
    begun = world.now

    class Forgets(MemoryEngine):
        async def see(self, target: Target) -> Observation:
            looks.append(world.now - begun)
            return await super().see(target)

    world.engine = Forgets()
    world.use(engines=replace(world.ports.engines, engine=world.engine))  # type: ignore[type-var]
    job = (await world.message(JOB)).job
    world.engine.jobs.clear()
    while not (await world.job(job.id)).state.terminal:
        await world.make_pass(10)

    assert (await world.job(job.id)).state is JobState.LOST
    assert len(looks) == 3
    assert looks[2] - looks[0] >= timedelta(seconds=300)
    assert all(later - earlier >= timedelta(seconds=100) for earlier, later in pairwise(looks))


async def test_looks_that_were_not_answered_are_no_evidence(world: World) -> None:
    class ListsNothing(MemoryEngine):
        async def status(self, cluster: str, targets: Sequence[Target]) -> dict[str, Observation]:
            return {}

        async def see(self, target: Target) -> Observation:
            raise Transient("no answer")

    job = (await world.message(JOB)).job
    world.use(engines=replace(world.ports.engines, engine=ListsNothing()))  # type: ignore[type-var]
    for _ in range(60):
        await world.make_pass(60)
    assert ((await world.job(job.id)).state, (await world.job(job.id)).misses) == (JobState.QUEUED, 0)


# Storage in a brown-out


class _BrownOut(MemoryTable):
    """A part of all requests is refused, half of them after the work was done."""

    def __init__(self, world: World, share: float) -> None:
        super().__init__(world.clock)
        self.share = share
        self._dice = random.Random(7)

    async def get(self, partition: str, row: str) -> VersionedRow | None:
        self._refuse(0.0)
        return await super().get(partition, row)

    async def rows(self, expected: Range) -> list[Row]:
        self._refuse(0.0)
        return await super().rows(expected)

    async def transact(self, operations: Sequence[Operation]) -> list[str]:
        self._refuse(self.share / 2)
        done = await super().transact(operations)
        self._refuse(0.5)
        return done

    def _refuse(self, less: float) -> None:
        if self._dice.random() < max(0.0, self.share - less):
            raise Unavailable("storage answered 503")


@pytest.mark.long
async def test_a_brown_out_of_storage_loses_and_doubles_nothing_and_logs_no_stack_trace(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    table = _BrownOut(world, 0.2)
    world.ledger = MemoryLedger(world.clock, table=table)
    world.outbox = TableOutbox(world.ledger.store)
    world.use(ledger=world.ledger, outbox=world.outbox)
    waiting = {f"m{n}": JOB for n in range(40)}
    for _ in range(10):
        for key, document in list(waiting.items()):
            try:  # a message stays until its function returns
                await world.message(document, key)
            except Unavailable:
                continue
            del waiting[key]
        try:
            await world.make_pass()
        except Unavailable:
            continue

    table.share = 0.0
    assert waiting == {}
    for _ in range(20):
        for name, observation in list(world.engine.jobs.items()):
            if not observation.state.terminal:
                world.engine.set_state(name, JobState.SUCCEEDED)
        await world.make_pass(120)
    result = [row for (_, key), row in table.held.items() if key.startswith("j|")]
    assert [row.row["State"] for row in result] == ["succeeded"] * 40
    assert len(world.engine.started) == len(set(world.engine.started)) == 40
    assert len({identity for _, identity, _ in world.webhooks.posts}) == 40
    assert [one.getMessage() for one in caplog.records if one.exc_info] == []
