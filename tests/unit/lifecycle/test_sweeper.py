"""What a pass makes of an engine's word: when it is believed, when it is too old, and what it costs."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.adapters.sealing import AesSeal
from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.table import VersionedRow
from shared.core.abilities import Ability
from shared.core.engine import Observation, Why
from shared.core.errors import Busy, NotFound, Transient, Unavailable
from shared.core.job import JobState, Reason, Target
from shared.core.ledger.entries import Pause
from shared.core.notify.receivers import Disabled
from shared.core.pacing.breaker import Breaker
from shared.core.trouble import Troubles
from shared.lifecycle.sweeper import PassCounts, make_pass
from shared.operate.ends.cancel import cancel
from tests.doubles.memory import MemoryDrops, MemoryLedger, MemoryTable
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.dropped_folder import drop_folder
from tests.unit.lifecycle.test_outages import JOB
from tests.unit.world import Engines, World, job_json

# Lost: often enough, and for long enough


@pytest.mark.parametrize(
    ("misses", "seconds", "every", "lost_at"),
    [
        (3, 300, 3600, 3),  # long enough at the second look, and not often enough
        (3, 300, 150, 3),
        (1, 300, 60, 6),  # often enough at the first look, and not for long enough
        (2, 300, 60, 6),
        (1, 0, 60, 1),
    ],
)
async def test_a_job_is_lost_once_it_was_missed_often_enough_and_for_long_enough(
    world: World, misses: int, seconds: float, every: float, lost_at: int
) -> None:
    world.policy(lost_after_misses=misses, lost_after=seconds)
    job = (await world.message(JOB)).job
    world.engine.jobs.clear()

    results = []
    for _ in range(lost_at):
        await world.make_pass(every)
        results.append((await world.job(job.id)).state)

    assert results == [JobState.QUEUED] * (lost_at - 1) + [JobState.LOST]


async def test_a_job_that_is_looked_for_says_so_until_it_is_known_again(world: World) -> None:
    world.policy(lost_after_misses=3, lost_after=600)
    job = (await world.message(JOB)).job
    jobs, world.engine.jobs = world.engine.jobs, {}
    await world.make_pass(60)
    first = world.now
    await world.make_pass(400)
    looked_for = (await world.job(job.id)).waiting
    world.engine.jobs = jobs
    await world.make_pass(60)
    after = await world.job(job.id)

    assert looked_for is not None
    assert looked_for.word == "Missing"
    until = first + timedelta(seconds=600)
    text = f"dev has not known it since {first:%H:%M} UTC; how it ended is looked for until {until:%H:%M} UTC"
    assert looked_for.text == f"{text}, and then it is lost"
    assert (after.state, after.waiting, after.misses) == (JobState.QUEUED, None, 0)


async def test_a_job_that_runs_says_what_it_waits_for_as_long_as_that_is_so(world: World) -> None:
    job = (await world.message(JOB)).job
    name = world.engine.started[0]
    silent = Why("NodeSilent", "gpu-1 has not answered since 10:14:40 UTC")
    texts = []
    for why in (None, silent, silent, None):
        world.engine.jobs[name] = Observation(JobState.RUNNING, why=why)
        await world.make_pass(60)
        waits = (await world.job(job.id)).waiting
        texts.append(waits.text if waits else "")

    assert texts == ["", silent.text, silent.text, ""]
    assert [entry.waits for entry in (await world.job(job.id)).history][-2:] == [silent.text, ""]


async def test_what_a_list_says_replaces_no_reason_that_was_read_before(world: World) -> None:
    job = (await world.message(JOB)).job
    name = world.engine.started[0]
    full = Why("Unschedulable", "no node of the cluster has the labels that it asks for")
    brief = Why("Unschedulable", "no node of the cluster can take it", is_brief=True)
    for why in (brief, full, brief, full, brief):
        world.engine.jobs[name] = Observation(JobState.QUEUED, why=why)
        await world.make_pass(60)
    after = await world.job(job.id)

    assert after.waiting is not None
    assert after.waiting.text == full.text
    assert [entry.waits for entry in after.history if entry.waits] == [brief.text, full.text]


async def test_a_lost_job_says_what_was_not_known_and_since_when(world: World) -> None:
    world.policy(lost_after_misses=1, lost_after=0)
    job = (await world.message(JOB)).job
    world.engine.jobs.clear()

    await world.make_pass(60)

    after, name = await world.job(job.id), world.engine.started[0]
    since = world.now.isoformat()
    assert (after.state, after.reason) == (JobState.LOST, Reason.INFRASTRUCTURE)
    assert after.message == f"the engine has not known {name} since {since}; how it ended is unknown"


async def test_evidence_from_a_clock_that_went_back_begins_anew(world: World) -> None:
    world.policy(lost_after_misses=1, lost_after=300)
    job = (await world.message(JOB)).job
    world.engine.jobs.clear()
    await world.make_pass(60)
    world.pass_time(-2 * 3600)

    await world.make_pass(60)
    assert (await world.job(job.id)).missed_at == world.now
    await world.make_pass(300)

    assert (await world.job(job.id)).state is JobState.LOST


async def test_the_first_miss_counts_at_once(world: World) -> None:
    job = (await world.message(JOB)).job
    world.engine.jobs.clear()

    await world.make_pass(1)

    assert (await world.job(job.id)).misses == 1


async def test_a_cluster_that_does_not_answer_is_no_defect_and_no_miss(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    job = (await world.message(JOB)).job
    world.engine.down = True

    await world.make_pass()

    assert (await world.job(job.id)).misses == 0
    assert [line.getMessage() for line in caplog.records if line.levelname == "ERROR"] == []


async def test_a_job_that_is_seen_again_begins_its_evidence_anew(world: World) -> None:
    job = (await world.message(JOB)).job
    (name,) = world.engine.started
    lost_job = world.engine.jobs.pop(name)
    for _ in range(2):
        await world.make_pass(200)
    world.engine.jobs[name] = lost_job
    await world.make_pass(200)
    assert ((await world.job(job.id)).misses, (await world.job(job.id)).missed_at) == (0, None)

    del world.engine.jobs[name]
    for _ in range(2):
        await world.make_pass(200)
    assert (await world.job(job.id)).state is JobState.QUEUED


async def test_old_evidence_counts_no_more_once_the_job_moved_on(world: World) -> None:
    world.policy(lost_after_misses=1, lost_after=300)
    job = (await world.message(JOB)).job
    (name,) = world.engine.started
    del world.engine.jobs[name]
    await world.make_pass(60)
    assert (await world.job(job.id)).misses == 1
    world.engine.set_state(name, JobState.RUNNING)
    await world.make_pass(600)
    assert ((await world.job(job.id)).misses, (await world.job(job.id)).missed_at) == (0, None)

    del world.engine.jobs[name]
    await world.make_pass(60)
    assert (await world.job(job.id)).state is JobState.RUNNING


class _ShortLists(MemoryEngine):
    """Its lists lack what it finds when it is asked for one job."""

    async def status(self, cluster: str, targets: Sequence[Target]) -> Mapping[str, Observation]:
        return {}


async def test_a_job_that_only_a_list_lacks_costs_no_write(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.use(engines=replace(world.ports.engines, engine=_ShortLists()))  # type: ignore[type-var]
    await world.message(JOB)
    before = dict(world.ledger.held)

    assert (await world.make_pass()).changed == 0

    assert world.ledger.held == before
    assert [line.getMessage() for line in caplog.records if line.levelname == "ERROR"] == []


async def test_what_a_direct_look_finds_counts_like_a_list(world: World) -> None:
    world.use(engines=replace(world.ports.engines, engine=(engine := _ShortLists())))  # type: ignore[type-var]
    job = (await world.message(JOB)).job
    engine.set_state(engine.started[0], JobState.SUCCEEDED)

    await world.make_pass()

    assert (await world.job(job.id)).state is JobState.SUCCEEDED


# A cluster that forgets


async def test_a_job_that_its_cluster_forgot_is_given_to_it_again_until_it_is_lost(world: World) -> None:
    world.engine.abilities = {**world.engine.abilities, "durable": Ability("no")}
    job = (await world.message(JOB)).job
    for looks in range(1, 4):
        world.engine.jobs.clear()
        world.engine.tokens.clear()
        await world.make_pass(200)
        assert len(world.engine.started) == min(looks, 2) + 1

    assert set(world.engine.started) == {job.target.name if job.target else ""}
    assert {order.target.token for order in world.engine.orders} == {f"{job.id}.1"}
    assert (await world.job(job.id)).state is JobState.LOST


async def test_what_a_forgetful_cluster_gets_again_is_the_same_order(world: World) -> None:
    world.engine.abilities = {**world.engine.abilities, "durable": Ability("no")}
    world.engine.allow = ("gpus",)
    await world.message({**JOB, "retry": {"infrastructure": 3}, "resources": {"gpus": 1}})
    (first,) = world.engine.started
    world.engine.set_state(first, JobState.FAILED, reason=Reason.PREEMPTED)
    await world.make_pass()
    await world.make_pass(3600)
    world.engine.jobs.clear()
    world.engine.tokens.clear()

    await world.make_pass()

    *_, before, again = world.engine.orders
    assert (again, again.resources) == (before, {"gpus": 1})
    assert [[one.target.name for one in order.earlier] for order in world.engine.orders] == [
        [],
        [first],
        [first],
    ]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Transient("I cannot take canary-hunter2"), "I cannot take ***"),
        (TimeoutError(), "no answer in time"),
    ],
)
async def test_why_a_forgetful_cluster_did_not_take_a_job_again_is_logged_without_its_secrets(
    world: World, caplog: pytest.LogCaptureFixture, error: Any, message: str
) -> None:
    world.engine.abilities = {**world.engine.abilities, "durable": Ability("no")}
    secret = {"secrets": [{"name": "PASSWORD", "value": "canary-hunter2"}]}
    job = (await world.message(job_json(**secret))).job
    world.engine.jobs.clear()
    world.engine.tokens.clear()
    world.engine.fail = [None, NotFound("no such job"), error]  # of the list, the look, the submission

    await world.make_pass()

    assert f"{job.id} could not be submitted again: {message}" in caplog.messages
    assert "canary" not in caplog.text


async def test_a_forgotten_job_whose_secrets_no_key_opens_any_more_says_so(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.engine.abilities = {**world.engine.abilities, "durable": Ability("no")}
    job = (await world.message(job_json(secrets=[{"name": "PASSWORD", "value": "canary-hunter2"}]))).job
    world.engine.jobs.clear()
    world.use(seal=AesSeal([base64.b64encode(b"x" * 32).decode()]))

    await world.make_pass()

    (output,) = [line for line in caplog.messages if "could not be submitted again" in line]
    assert output.startswith(f"{job.id} could not be submitted again: ")
    assert "key" in output


async def test_a_forgetful_cluster_gets_no_job_again_that_is_cancelled(world: World) -> None:
    world.engine.abilities = {**world.engine.abilities, "durable": Ability("no")}
    job = (await world.message(JOB)).job
    world.engine.fail = [Transient("no answer")]
    await cancel(world.ports, job.id)
    world.engine.jobs.clear()
    world.engine.tokens.clear()

    await world.make_pass()

    assert ((await world.job(job.id)).misses, len(world.engine.orders)) == (1, 1)


async def test_a_job_that_its_cluster_shows_again_is_not_given_to_it_again(world: World) -> None:
    world.engine.abilities = {**world.engine.abilities, "durable": Ability("no")}
    await world.message(JOB)
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    calls = world.engine.calls

    assert (await world.make_pass()).changed == 1

    assert world.engine.calls == calls + 1


async def test_a_cluster_that_never_forgets_is_given_nothing_again(world: World) -> None:
    await world.message(JOB)
    world.engine.jobs.clear()
    world.engine.tokens.clear()

    await world.make_pass()

    assert len(world.engine.orders) == 1


async def test_a_pass_counts_what_it_submits_and_cancels(world: World) -> None:
    world.engine.down = True
    for n in range(2):
        await world.message(JOB, f"m{n}")
    world.engine.down = False

    assert (await world.make_pass(700)).dispatched == 2
    assert (await world.make_pass()).dispatched == 0


# A cluster that answers "not now" is not down


async def test_a_cluster_that_is_busy_is_not_left_alone(world: World) -> None:
    world.engine.fail = [Busy("not now") for _ in range(8)]
    for n in range(8):
        await world.message(JOB, f"busy{n}")
    assert world.engine.calls == 8

    await world.message(JOB, "next")
    assert len(world.engine.started) == 1


# An old word


class _Slow(MemoryEngine):
    """The first answer is made at once and comes late."""

    def __init__(self) -> None:
        super().__init__()
        self.queried, self.comes = asyncio.Event(), asyncio.Event()

    async def status(self, cluster: str, targets: Sequence[Target]) -> Mapping[str, Observation]:
        answer = await super().status(cluster, targets)
        if not self.queried.is_set():
            self.queried.set()
            await self.comes.wait()
        return answer


@pytest.fixture
async def slow(world: World) -> _Slow:
    """The engine of the world; its next answer is slow once `asked` is cleared."""
    engine = _Slow()
    engine.queried.set()
    world.engine = engine
    world.use(engines=replace(world.ports.engines, engine=engine))  # type: ignore[type-var]
    world.policy(ask_deadline=1e6)
    return engine


async def _statuses(world: World, slow: _Slow) -> asyncio.Task[PassCounts]:
    """A pass that has its answer on the way."""
    slow.queried.clear()
    going = asyncio.create_task(make_pass(world.ports))
    await slow.queried.wait()
    return going


async def test_a_word_about_a_run_that_was_requeued_meanwhile_ends_nothing(world: World, slow: _Slow) -> None:
    """The cluster said `failed`, put the job back into its queue, and another pass recorded that first."""
    job = (await world.message(JOB)).job
    (name,) = slow.started
    slow.set_state(name, JobState.RUNNING)
    await world.make_pass()

    slow.set_state(name, JobState.FAILED, reason=Reason.USER)
    going = await _statuses(world, slow)
    slow.set_state(name, JobState.QUEUED)
    await world.make_pass()
    assert (await world.job(job.id)).state is JobState.QUEUED
    slow.comes.set()
    await going

    assert (await world.job(job.id)).state is JobState.QUEUED


async def test_a_word_about_an_attempt_says_nothing_about_the_next(world: World, slow: _Slow) -> None:
    """The cluster said `preempted`; another pass recorded that, and submitted the next attempt."""
    job = (await world.message({**JOB, "retry": {"infrastructure": 3}})).job
    slow.set_state(slow.started[0], JobState.FAILED, reason=Reason.PREEMPTED)
    going = await _statuses(world, slow)
    await world.make_pass()
    await world.make_pass(3600)
    assert ((await world.job(job.id)).state, (await world.job(job.id)).attempt) == (JobState.QUEUED, 2)
    slow.comes.set()
    await going

    assert ((await world.job(job.id)).state, (await world.job(job.id)).attempt) == (JobState.QUEUED, 2)


async def test_what_was_recorded_while_a_pass_waited_for_its_answer_is_kept(
    world: World, slow: _Slow
) -> None:
    job = (await world.message(JOB)).job
    slow.set_state(slow.started[0], JobState.RUNNING)
    going = await _statuses(world, slow)
    slow.fail = [Transient("the cluster is told by the next pass")]
    await cancel(world.ports, job.id)
    slow.comes.set()
    await going

    after = await world.job(job.id)
    assert (after.state, after.cancel) == (JobState.RUNNING, True)


# What a change costs


class _Counting(MemoryTable):
    """Counts the rows of jobs that are read by their keys."""

    reads = 0

    async def get(self, partition: str, row: str) -> VersionedRow | None:
        self.reads += partition.startswith("s")
        return await super().get(partition, row)


def _counted(world: World) -> _Counting:
    table = _Counting(world.clock)
    world.ledger = MemoryLedger(world.clock, table=table)
    world.outbox = TableOutbox(world.ledger.store)
    world.use(ledger=world.ledger, outbox=world.outbox)
    return table


async def test_a_pass_changes_records_as_their_rows_hold_them_and_reads_none(world: World) -> None:
    table = _counted(world)
    for n in range(5):
        await world.message(JOB, f"m{n}")
    for name in world.engine.started:
        world.engine.set_state(name, JobState.RUNNING)
    table.reads = 0

    assert (await world.make_pass()).changed == 5

    assert table.reads == 0


async def test_while_a_cluster_is_left_alone_no_record_of_its_jobs_is_read(world: World) -> None:
    table = _counted(world)
    world.engine.down = True
    for n in range(5):
        await world.message(JOB, f"m{n}")
    table.reads = 0

    assert (await world.make_pass(20)).dispatched == 0

    assert table.reads == 0


async def test_while_a_cluster_is_left_alone_its_cancelled_jobs_fill_no_log(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    jobs = [(await world.message(JOB, f"m{n}")).job for n in range(5)]
    world.engine.down = True
    for job in jobs:
        await cancel(world.ports, job.id)
    caplog.clear()

    await world.make_pass(20)

    assert [line.getMessage()[:30] for line in caplog.records] == ["cluster dev cannot be queried:"]


# No step stops the next


async def test_a_delivery_that_breaks_the_deliveries_stops_nothing_else(world: World) -> None:
    class Broken(TableOutbox):
        async def disabled(self) -> list[Disabled]:
            raise ValueError("a defect")

    job = (await world.message(JOB)).job
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    world.use(outbox=Broken(world.ledger.store))

    counts = await world.make_pass()

    assert (counts.changed, counts.delivered) == (1, 0)
    assert (await world.job(job.id)).state is JobState.SUCCEEDED


async def test_submissions_that_cannot_be_looked_for_stop_nothing_else(world: World) -> None:
    class Unsure(MemoryLedger):
        async def paused(self) -> Pause | None:
            raise Unavailable("storage answered 503")

    world.engine.fail = [Transient("lost")]
    await world.message(JOB, "waits")
    job = (await world.message(JOB, "runs")).job
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    unsure = Unsure(world.clock, table=world.ledger.table)
    world.use(ledger=unsure)

    counts = await world.make_pass(3600)

    assert (counts.changed, counts.dispatched) == (1, 0)
    assert (await world.job(job.id)).state is JobState.SUCCEEDED


# A cluster that does not answer


class _Says(MemoryEngine):
    """A cluster that fails with these words, one after the other."""

    words: tuple[str, ...] = ("",)

    async def status(self, cluster: str, targets: Sequence[Target]) -> dict[str, Observation]:
        word, self.words = self.words[0], self.words[1:] or self.words
        raise Transient(word)


@pytest.mark.parametrize(
    ("words", "noted"),
    [
        (("",), "no answer in time"),
        (("reset", "refused"), "refused"),
    ],
)
async def test_what_a_silent_cluster_said_last_is_noted(
    world: World, words: tuple[str, ...], noted: str
) -> None:
    engine = _Says()
    world.engine = engine
    world.use(engines=Engines(engine))
    await world.message(JOB)
    engine.words = words
    for _ in words:
        await world.make_pass()

    assert world.ports.troubles.reasons("cluster") == {"memory/dev": noted}


async def test_that_a_cluster_is_left_alone_takes_the_place_of_none_of_its_words(world: World) -> None:
    engine = _Says()
    world.engine = engine
    world.use(engines=Engines(engine), breaker=Breaker(failures=1))
    await world.message(JOB)
    engine.words = ("reset", "not asked")
    for _ in range(2):
        await world.make_pass(1)

    assert world.ports.troubles.reasons("cluster") == {"memory/dev": "reset"}
    assert engine.words[0] == "not asked"

    elsewhere = Troubles(world.clock)  # this process has heard no word of it
    world.use(troubles=elsewhere)
    await world.make_pass(1)
    (noted,) = elsewhere.reasons("cluster").values()
    assert noted
    assert noted != "reset"


async def test_a_change_without_another_line_writes_no_answer(world: World) -> None:
    drops = _Puts(world.clock)
    world.drops = drops
    world.use(drops=drops)
    await drop_folder(world)
    world.engine.jobs.clear()
    drops.names.clear()

    await world.make_pass(60)

    assert [job.misses for job in world.ledger.jobs] == [1]
    assert drops.names == []


class _Puts(MemoryDrops):
    """Keeps what was asked to be written, also if it was too old."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        super().__init__(clock)
        self.names: list[str] = []

    async def put_status(self, name: str, line: bytes, sequence: int, *, fresh: bool = False) -> bool:
        self.names.append(name)
        return await super().put_status(name, line, sequence, fresh=fresh)
