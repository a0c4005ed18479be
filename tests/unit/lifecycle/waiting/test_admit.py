"""What makes a job wait: a pause, the jobs at work, the rate of its source. Nothing is lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.admission.pauses import pause, paused, resume, standing
from shared.core.engine import ClusterView
from shared.core.errors import Misuse, Transient, Unavailable
from shared.core.job import Job, JobState
from shared.core.ledger.entries import Active, Pause, Standing
from shared.core.ports import Ports
from shared.intake.accept import Accepted
from shared.intake.message import read_request
from shared.intake.request_door import request_arrived
from shared.operate.ends.cancel import cancel
from shared.operate.ready import ready
from tests.doubles.memory import MemoryLedger
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import Engines, World, job_json


class Counting(MemoryLedger):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.requests: list[str] = []

    async def paused(self) -> Pause | None:
        self.requests.append("paused")
        return await super().paused()

    async def standing(self) -> Standing:
        self.requests.append("standing")
        return await super().standing()

    async def recent(self, source: str, since: datetime, until: datetime) -> dict[str, datetime]:
        self.requests.append("recent")
        return await super().recent(source, since, until)

    async def active(self, shard: int) -> list[Active]:
        self.requests.append("active")
        return await super().active(shard)


def counted(world: World) -> Counting:
    world.use(ledger=(ledger := Counting(world.clock)))
    world.ledger = ledger
    return ledger


async def by_http(world: World, key: str, caller: str = "ann") -> Accepted:
    request = read_request(json.dumps(job_json()).encode(), world.ports.policy.limits)
    return await request_arrived(world.ports, request, door="http", source=f"http:{caller}", key=key)


def _errors(job: Job) -> list[dict[str, Any]]:
    return [problem for problem in job.problems if problem["severity"] == "error"]


async def test_while_submissions_are_paused_jobs_are_accepted_and_wait(world: World) -> None:
    await pause(world.ports, "ann", "the cluster moves")
    job = (await world.message(job_json())).job
    await world.make_pass()

    assert job.state is JobState.ACCEPTED
    assert job.message == "waits: submissions are paused by ann (the cluster moves)"
    assert world.engine.started == []

    await resume(world.ports, "ann")
    await world.make_pass()

    assert (await world.job(job.id)).state is JobState.QUEUED
    assert len(world.engine.started) == 1


async def test_a_pause_lets_what_runs_end_and_be_reported(world: World) -> None:
    job = (await world.message(job_json())).job
    await pause(world.ports, "ann", "")
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    assert (await world.job(job.id)).state is JobState.SUCCEEDED


async def test_a_job_that_waits_can_be_cancelled_and_is_never_submitted(world: World) -> None:
    await pause(world.ports, "ann", "")
    job = (await world.message(job_json())).job
    await cancel(world.ports, job.id)
    await resume(world.ports, "ann")
    await world.make_pass()
    assert (await world.job(job.id)).state is JobState.CANCELLED
    assert world.engine.started == []


async def test_a_pause_holds_a_submission_back_whose_outcome_is_unknown(world: World) -> None:
    class Silent(MemoryEngine):
        async def submit(self, order: Any) -> None:
            raise Transient("no answer")

    world.use(engines=Engines(Silent()))
    job = (await world.message(job_json())).job
    world.use(engines=Engines(world.engine))
    await pause(world.ports, "ann", "")
    await world.make_pass(700)
    assert world.engine.started == []
    await resume(world.ports, "ann")
    await world.make_pass()
    assert (await world.job(job.id)).state is JobState.QUEUED


async def test_the_setting_pauses_too_and_wins_over_resume(world: World) -> None:
    world.policy(paused=True)
    still = await resume(world.ports, "ann")
    assert still is not None
    assert "SLIPWAY_PAUSED" in still.by
    assert (await world.message(job_json())).job.state is JobState.ACCEPTED


async def test_a_pause_is_seen_by_another_process_within_seconds(world: World) -> None:
    await paused(world.ports)
    await pause(replace(world.ports, memo=type(world.ports.memo)()), "ann", "")
    world.pass_time(6)
    assert (await world.message(job_json())).job.state is JobState.ACCEPTED


async def test_waiting_jobs_cost_no_write_however_often_the_sweeper_looks(world: World) -> None:
    await pause(world.ports, "ann", "")
    job = (await world.message(job_json())).job
    before = await world.ledger.get(job.id)
    for _ in range(3):
        await world.make_pass()
    assert await world.ledger.get(job.id) == before


async def test_beyond_the_active_jobs_the_oldest_waits_least(world: World) -> None:
    world.policy(max_active_jobs=2)
    jobs = []
    for n in range(4):
        jobs.append((await world.message(job_json(), f"m{n}")).job)
        world.pass_time(1)
    assert [job.state.value for job in jobs] == ["queued", "queued", "accepted", "accepted"]
    assert jobs[2].message == "waits for its turn: the limit on active jobs (2) is reached"

    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    await world.make_pass()

    assert (await world.job(jobs[2].id)).state is JobState.QUEUED
    assert (await world.job(jobs[3].id)).state is JobState.ACCEPTED


async def test_beyond_the_rate_a_message_waits_for_its_turn_in_the_following_hours(world: World) -> None:
    world.policy(max_jobs_per_hour=2)
    jobs = [(await world.message(job_json(), f"m{n}")).job for n in range(5)]

    assert [job.state.value for job in jobs] == ["queued"] * 2 + ["accepted"] * 3
    waits = [round((job.due - world.now) / timedelta(hours=1)) for job in jobs]
    assert waits == [0, 0, 1, 1, 2]
    await world.make_pass()
    assert len(world.engine.started) == 2
    await world.make_pass(3600)
    assert len(world.engine.started) == 4
    await world.make_pass(3600)
    assert len(world.engine.started) == 5


@pytest.mark.long
async def test_what_comes_faster_than_the_rate_for_long_never_starts_faster(world: World) -> None:
    world.policy(max_jobs_per_hour=5)
    started = []
    for n in range(8 * 15):
        if n % 20 == 0:  # another process knows what the ledger knows
            world.use(memo=type(world.ports.memo)())
        if n % 15 == 0:
            started.append(len(world.engine.started))
        await world.message(job_json(), f"m{n}")
        for name in world.engine.started[started[-1] :]:
            world.engine.set_state(name, JobState.SUCCEEDED)
        await world.make_pass(239)
    assert started == [0, 5, 10, 15, 20, 25, 30, 35]


async def test_a_backlog_does_not_keep_a_clock_that_was_wrong(world: World) -> None:
    world.policy(max_jobs_per_hour=1)
    now = world.now
    world.now = now + timedelta(days=365)
    await pause(world.ports, "ann", "")
    job = (await world.message(job_json(), "m1")).job
    await resume(world.ports, "ann")
    world.now = now
    world.use(memo=type(world.ports.memo)())
    await world.make_pass()
    assert (await world.job(job.id)).state is JobState.QUEUED
    assert (await world.message(job_json(), "m2")).job.state is JobState.QUEUED


async def test_a_pause_does_not_switch_the_rate_off(world: World) -> None:
    world.policy(max_jobs_per_hour=3)
    await pause(world.ports, "ann", "")
    for n in range(3):
        assert (await by_http(world, f"k{n}")).job.state is JobState.ACCEPTED
    with pytest.raises(Misuse) as error:
        await by_http(world, "k3")
    assert error.value.status == 429
    waits = [(await world.message(job_json(), f"m{n}")).job.due - world.now for n in range(4)]
    assert waits == [timedelta(0)] * 3 + [timedelta(hours=1)]
    await resume(world.ports, "ann")
    await world.make_pass()
    assert len(world.engine.started) == 6


class Slow(MemoryLedger):
    """Storage that lets others come while it answers."""

    async def recent(self, source: str, since: datetime, until: datetime) -> dict[str, datetime]:
        answer = await super().recent(source, since, until)
        await asyncio.sleep(0)
        return answer

    async def create(self, *args: Any) -> Any:
        for _ in range(10):
            await asyncio.sleep(0)
        return await super().create(*args)


async def test_many_at_once_in_one_process_do_not_pass_the_rate(world: World) -> None:
    world.use(ledger=Slow(world.clock))
    world.policy(max_jobs_per_hour=3)
    result = await asyncio.gather(*(by_http(world, f"k{n}") for n in range(30)), return_exceptions=True)
    assert sum(isinstance(one, Accepted) for one in result) == 3


async def test_many_at_once_in_one_process_are_not_more_at_work_than_allowed(world: World) -> None:
    world.use(ledger=Slow(world.clock))
    world.policy(max_active_jobs=5)
    jobs = await asyncio.gather(*(world.message(job_json(), f"m{n}") for n in range(30)))
    assert sum(accepted.job.state is not JobState.ACCEPTED for accepted in jobs) == 5


async def test_a_message_whose_record_failed_keeps_its_place_and_takes_no_second(world: World) -> None:
    class SilentLedger(MemoryLedger):
        async def create(self, *args: Any) -> Any:
            raise Unavailable("no answer")

    world.policy(max_jobs_per_hour=2)
    world.use(ledger=SilentLedger(world.clock))
    for _ in range(5):
        with pytest.raises(Unavailable):
            await world.message(job_json(), "m1")
    world.use(ledger=world.ledger)
    assert (await world.message(job_json(), "m1")).job.state is JobState.QUEUED
    assert (await world.message(job_json(), "m2")).job.state is JobState.QUEUED
    assert (await world.message(job_json(), "m3")).job.state is JobState.ACCEPTED


async def test_beyond_the_rate_a_caller_learns_when_to_come_back_and_nothing_is_kept(world: World) -> None:
    world.policy(max_jobs_per_hour=1)
    first = await by_http(world, "a")
    world.pass_time(60)

    with pytest.raises(Misuse) as error:
        await by_http(world, "b")

    assert error.value.status == 429
    assert error.value.retry_after == 3600 - 60
    assert (await by_http(world, "a")).job.id == first.job.id  # the same request gets the same answer
    assert (await by_http(world, "b", "bob")).created  # another caller is another source
    world.pass_time(3541)
    assert (await by_http(world, "b")).job.state is JobState.QUEUED


async def test_who_was_sent_back_takes_no_place_from_the_next(world: World) -> None:
    world.policy(max_jobs_per_hour=1)
    await by_http(world, "a")
    world.pass_time(3590)
    with pytest.raises(Misuse):
        await by_http(world, "b")
    world.pass_time(11)
    assert (await by_http(world, "c")).job.state is JobState.QUEUED


async def test_a_document_with_problems_is_rejected_at_once_at_any_rate(world: World) -> None:
    world.policy(max_jobs_per_hour=1)
    await world.message(job_json(), "m1")
    rejected = (await world.message(job_json(nodeCount=0), "m2")).job
    assert (rejected.state, rejected.due, rejected.slot) == (JobState.REJECTED, world.now, None)


async def test_the_rate_is_known_to_a_process_that_has_just_started(world: World) -> None:
    world.policy(max_jobs_per_hour=1)
    await world.message(job_json(), "m1")
    world.use(memo=type(world.ports.memo)())
    assert (await world.message(job_json(), "m2")).job.state is JobState.ACCEPTED


async def test_far_below_the_limits_many_jobs_cost_one_question(world: World) -> None:
    ledger = counted(world)
    for n in range(19):
        await world.message(job_json(), f"m{n}")
    assert ledger.requests == ["paused"]


@pytest.mark.parametrize("question", [paused, standing])
async def test_while_one_asks_for_the_switch_again_the_others_take_what_it_was(
    world: World, question: Callable[[Ports], Awaitable[Pause | Standing | None]]
) -> None:
    class Slow(Counting):
        async def paused(self) -> Pause | None:
            await asyncio.sleep(0)
            return await super().paused()

        async def standing(self) -> Standing:
            await asyncio.sleep(0)
            return await super().standing()

    world.use(ledger=(ledger := Slow(world.clock)))
    await pause(world.ports, "ann", "the cluster moves")
    assert await question(world.ports) is not None
    world.pass_time(60)
    ledger.requests.clear()

    answers = await asyncio.gather(*(question(world.ports) for _ in range(20)))

    assert None not in answers
    assert ledger.requests == [question.__name__]


async def test_with_limits_many_jobs_cost_a_few_questions(world: World) -> None:
    ledger = counted(world)
    world.policy(max_jobs_per_hour=100, max_active_jobs=100)
    for n in range(20):
        await world.message(job_json(), f"m{n}")
    assert ledger.requests == ["paused", "recent", *["active"] * 4]


async def test_far_from_the_rate_a_process_asks_every_five_minutes(world: World) -> None:
    ledger = counted(world)
    world.policy(max_jobs_per_hour=2000)
    for n in range(20):
        await world.message(job_json(), f"m{n}")
        world.pass_time(20)
    assert ledger.requests.count("recent") == 2


async def test_more_node_hours_than_allowed_are_refused_at_their_place(world: World) -> None:
    world.policy(limits=replace(world.ports.policy.limits, max_node_hours=24))
    refused = (await world.message(job_json(nodeCount=2))).job
    (error,) = _errors(refused)
    assert (error["code"], error["pointer"]) == ("SW110", "/properties/nodeCount")
    assert "names no time" in error["message"]
    limits = {"constraints": {"maxWallClockTime": "PT12H"}}
    assert (await world.message(job_json(nodeCount=2, **limits), "m2")).job.state is JobState.QUEUED


async def test_receivers_and_levels_are_limited_by_settings(world: World) -> None:
    world.policy(limits=replace(world.ports.policy.limits, max_receivers=1, max_depth=4))
    hook = {"url": "https://hooks.example.com"}
    many = (await world.message({"spec": job_json(), "notify": [hook, hook]})).job
    assert [(error["code"], error["pointer"]) for error in _errors(many)] == [("SW063", "/notify")]
    deep = (await world.message(b'{"properties": {"a": {"b": {"c": {}}}}}', "m2")).job
    assert [p["code"] for p in deep.problems] == ["SW004"]


async def test_ready_says_what_answers_and_asks_at_most_every_few_seconds(world: World) -> None:
    class Mute(MemoryEngine):
        requests = 0

        async def nodes(self, cluster: str) -> ClusterView:
            self.requests += 1
            raise Transient("secret.internal.example does not answer")

    assert (await ready(world.ports)).ready
    world.use(engines=Engines(mute := Mute()))
    assert (await ready(world.ports)).ready  # asked a moment ago
    world.pass_time(6)
    readiness = await asyncio.gather(*(ready(world.ports) for _ in range(2)))
    both = [(one.storage, one.clusters, one.ready) for one in readiness]
    assert both == [(True, {"does not answer": 1}, True)] * 2
    assert mute.requests <= 2


async def test_ready_tells_a_silent_storage_and_the_switch(world: World) -> None:
    await pause(world.ports, "ann", "")
    assert (await ready(world.ports)).paused

    class SilentLedger(MemoryLedger):
        async def get(self, job_id: str) -> Any:
            raise Unavailable("no answer")

    world.pass_time(6)
    world.use(ledger=SilentLedger(world.clock))
    readiness = await ready(world.ports)
    assert (readiness.storage, readiness.paused) == (False, False)
