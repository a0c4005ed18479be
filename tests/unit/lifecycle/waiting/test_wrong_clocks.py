"""Every kind of wait is over at its time at the latest, also if a clock was wrong for long when it began."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import product
from typing import Any, NamedTuple

import pytest

from shared.admission.pauses import pause, resume
from shared.core.errors import Misconfigured, Rejected, Transient
from shared.core.job import Job, JobState, Reason
from shared.core.pacing.wait_kinds import SKEW, Planned, WaitKind
from shared.core.ports import Posted
from shared.core.relations.contents import Idle
from shared.core.teams.document import Teams
from shared.intake.arrive import message_arrived
from shared.intake.drops.inventory import inventory
from shared.lifecycle.idle.reap import judge
from shared.lifecycle.idle.use import Span
from tests.breadth import one_each
from tests.unit.world import World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}
#: How often each wait is looked at, once in its longest time: evidence takes three looks.
_LOOKS = 5


class Begun(NamedTuple):
    """A wait that has begun: whether it is over now, by one look; and how long it may take."""

    is_over: Callable[[], Awaitable[bool]]
    longest: timedelta


Scenario = Callable[[World], Awaitable[Begun]]


async def _ask(world: World, number: int = 1, **members: Any) -> Job:
    return (await world.message({"spec": job_json(), "notify": [HOOK], **members}, f"m{number}")).job


def _until(
    world: World, job: Job, kind: WaitKind, *states: JobState, planned: timedelta | None = None
) -> Begun:
    async def is_over() -> bool:
        await world.make_pass(0)
        return (await world.job(job.id)).state in (states or (JobState.QUEUED,))

    return Begun(is_over, world.ports.policy.longest(kind) if planned is None else planned + SKEW)


async def _for_a_slot(world: World) -> Begun:
    world.policy(max_jobs_per_hour=1)
    await _ask(world, 0)
    job = await _ask(world)
    assert job.wait is WaitKind.SLOT
    return _until(world, job, WaitKind.SLOT, planned=job.planned_wait)


async def _for_the_end_of_a_pause(world: World) -> Begun:
    await pause(world.ports, "ann", "")
    job = await _ask(world)
    await resume(world.ports, "ann")
    return _until(world, job, WaitKind.ROOM)


async def _for_a_place_among_the_active(world: World) -> Begun:
    world.policy(max_active_jobs=1)
    await _ask(world, 0)
    job = await _ask(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    return _until(world, job, WaitKind.ROOM)


async def _for_a_quota(world: World) -> Begun:
    teams = {"default": "vision", "teams": {"vision": {"quota": {"jobs": 1}}}}
    await world.ports.teams.put(Teams.model_validate(teams), "")
    await _ask(world, 0)
    job = await _ask(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    return _until(world, job, WaitKind.ROOM)


async def _for_another_job(world: World) -> Begun:
    first = await _ask(world, 0)
    job = await _ask(world, after=[first.id])
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    return _until(world, job, WaitKind.ROOM)


async def _for_a_seat(world: World) -> Begun:
    document = {"spec": job_json(environmentVariables=[{"name": "N", "value": "{n}"}]), "parallel": 1}
    await message_arrived(world.ports, json.dumps(document | {"sweep": {"n": [1, 2]}}).encode(), "m1")

    async def is_over() -> bool:
        await world.make_pass(0)
        for name in world.engine.started[:1]:
            world.engine.set_state(name, JobState.SUCCEEDED)
        await world.make_pass(0)
        return len(world.engine.started) == 2

    return Begun(is_over, world.ports.policy.longest(WaitKind.ROOM))


async def _for_the_next_attempt(world: World) -> Begun:
    job = await _ask(world, retry={"infrastructure": 1})
    lost = {"reason": Reason.INFRASTRUCTURE}
    world.engine.set_state(world.engine.started[0], JobState.FAILED, **lost)
    await world.make_pass(0)
    assert (await world.job(job.id)).wait is WaitKind.ATTEMPT
    return _until(world, job, WaitKind.ATTEMPT)


async def _for_an_answer(world: World) -> Begun:
    world.engine.fail += [Transient("no answer")] * 2  # the submission, and the question what became of it
    return _until(world, await _ask(world), WaitKind.SUBMISSION)


async def _for_an_operator(world: World) -> Begun:
    world.engine.fail += [Misconfigured("no right")] * 2
    return _until(world, await _ask(world), WaitKind.SUBMISSION)


async def _for_a_lost_submission(world: World) -> Begun:
    world.engine.fail += [Transient("lost"), *[Rejected("no"), None] * 20]
    return _until(world, await _ask(world), WaitKind.SUBMISSION, JobState.FAILED)


async def _for_evidence(world: World) -> Begun:
    job = await _ask(world)
    world.engine.jobs.clear()
    await world.make_pass(0)
    assert (await world.job(job.id)).misses == 1
    return _until(world, job, WaitKind.EVIDENCE, JobState.LOST)


def _delivered(world: World, kind: WaitKind) -> Begun:
    world.queues.messages.clear()
    world.policy(deliver_deadline=20)

    async def is_over() -> bool:
        await world.make_pass(0)
        return bool(world.webhooks.posts) and not await _undelivered(world)

    return Begun(is_over, world.ports.policy.longest(kind))


async def _undelivered(world: World) -> list[Any]:
    every = range(world.outbox.shards)
    far = timedelta(days=3650)
    return [one for n in every for one in await world.outbox.undelivered(n, world.now + far, far)]


async def _for_the_sweeper_that_delivers(world: World) -> Begun:
    world.policy(deliver_deadline=0)
    await _ask(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass(0)
    assert world.webhooks.posts == []
    return _delivered(world, WaitKind.EVENT)


async def _for_the_next_try(world: World) -> Begun:
    world.webhooks.answers = [Posted("retry", 503, "5xx", None, 1), Posted("delivered", 204, "2xx", None, 1)]
    await _ask(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass(0)
    assert len(world.webhooks.posts) == 1
    return _delivered(world, WaitKind.TRY)


async def _for_another_look(world: World) -> Begun:
    wait = timedelta(minutes=5)
    world.ports.looks.plan("j", world.now + wait, world.now)

    async def is_over() -> bool:
        return world.ports.looks.due({"j": Planned(world.now, wait)}, world.now, 9) == ["j"]

    return Begun(is_over, wait + SKEW)


async def _after_a_warning(world: World) -> Begun:
    world.policy(idle_gpus=3600.0, idle_grace=1800.0)
    job = await _ask(world)
    stored = await world.ledger.get(job.id)
    assert stored is not None
    files, grace = world.now, timedelta(seconds=1800)  # the clock of the files is another one
    idle = Idle(cause="gpus", since=files, latest=files, warned=world.now, ends=world.now + grace)
    warned = stored.job.model_copy(update={"idle": idle, "state": JobState.RUNNING})

    async def is_over() -> bool:
        span = Span(files, files + 3 * grace)
        change = judge(world.ports, type(stored)(warned, "", None), {"gpus": span}).change
        return change is not None and change.transition.after.cancel

    return Begun(is_over, grace + SKEW)


def _by_inventory(world: World, kind: WaitKind, is_over: Callable[[], bool]) -> Begun:
    world.policy(inventory_window=timedelta(days=3650))

    async def _is_over() -> bool:
        await inventory(world.ports)
        for _, body, _ in list(world.queues.messages):
            world.queues.messages.clear()
            await message_arrived(world.ports, body.encode(), "look")
        return is_over()

    return Begun(_is_over, world.ports.policy.longest(kind) + SKEW)


async def _for_a_quiet_folder(world: World) -> Begun:
    world.drops.upload("a/run/job.json", json.dumps(job_json()).encode())
    return _by_inventory(world, WaitKind.SETTLE, lambda: len(world.engine.started) == 1)


async def _for_a_note(world: World) -> Begun:
    script = "python $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/a/run/train.py"
    half = job_json(customToolkitSettings={"commandLine": script})
    world.drops.upload("a/run/job.json", json.dumps(half).encode())
    return _by_inventory(world, WaitKind.NOTE, lambda: "a/run/waiting.json" in world.drops.receipt_files)


SCENARIOS: dict[Scenario, WaitKind] = {
    _for_a_slot: WaitKind.SLOT,
    _for_the_end_of_a_pause: WaitKind.ROOM,
    _for_a_place_among_the_active: WaitKind.ROOM,
    _for_a_quota: WaitKind.ROOM,
    _for_another_job: WaitKind.ROOM,
    _for_a_seat: WaitKind.ROOM,
    _for_the_next_attempt: WaitKind.ATTEMPT,
    _for_an_answer: WaitKind.SUBMISSION,
    _for_an_operator: WaitKind.SUBMISSION,
    _for_a_lost_submission: WaitKind.SUBMISSION,
    _for_evidence: WaitKind.EVIDENCE,
    _for_the_sweeper_that_delivers: WaitKind.EVENT,
    _for_the_next_try: WaitKind.TRY,
    _for_another_look: WaitKind.IDLE_CHECK,
    _after_a_warning: WaitKind.WARNING,
    _for_a_quiet_folder: WaitKind.SETTLE,
    _for_a_note: WaitKind.NOTE,
}
#: By so much the clock is wrong: less and more than the longest waits.
_WRONG = [timedelta(days=1), timedelta(minutes=20), timedelta(days=10), timedelta(days=400)]
_CASES = one_each(product(SCENARIOS, _WRONG, (-1, 1)), lambda case: (case[0], case[2]))


def test_every_kind_of_wait_has_a_scenario_and_a_bound(world: World) -> None:
    assert {*SCENARIOS.values()} == {*WaitKind}
    assert all(world.ports.policy.longest(kind) >= timedelta() for kind in WaitKind)


@pytest.mark.parametrize(
    ("scenario", "wrong", "direction"), _CASES, ids=lambda one: getattr(one, "__name__", str(one)).strip("_")
)
async def test_a_wait_is_over_in_its_time_although_the_clock_goes(
    world: World, scenario: Scenario, wrong: timedelta, direction: int
) -> None:
    begun = await scenario(world)
    world.now += direction * wrong

    for _ in range(_LOOKS):
        if await begun.is_over():
            return
        world.now += begun.longest + timedelta(seconds=1)
    raise AssertionError("it goes on waiting")
