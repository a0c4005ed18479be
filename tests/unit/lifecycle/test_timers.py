"""Events that never come, timers that miss or overlap, clocks that jump: nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from shared.core.job import JobState
from shared.delivery.deliver import deliver
from shared.intake.drops.drop import look_at_folder
from shared.intake.drops.inventory import inventory
from shared.lifecycle.sweeper import make_pass
from tests.unit.lifecycle.test_outages import HOOK, JOB, drained, leftovers, states
from tests.unit.world import World, job_json


async def test_a_drop_whose_event_never_came_is_found_by_the_inventory(world: World) -> None:
    world.drops.upload("d/train.py", b"print(1)")
    command = {"commandLine": "python $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/d/train.py"}
    world.drops.upload("d/job.json", json.dumps(job_json(customToolkitSettings=command)).encode())
    world.pass_time(3600)

    first = await inventory(world.ports)
    second = await inventory(world.ports)
    await look_at_folder(world.ports, "d/")  # and now the event comes after all

    assert (first.accepted, second.accepted, len(world.engine.started)) == (1, 0, 1)


async def test_a_timer_that_missed_its_time_for_hours_catches_up_in_one_sweep(world: World) -> None:
    for n in range(10):
        await world.message(JOB, f"m{n}")
    for name in world.engine.started:
        world.engine.set_state(name, JobState.SUCCEEDED)
    world.pass_time(6 * 3600)

    await make_pass(world.ports)

    assert states(world) == ["succeeded"] * 10
    assert leftovers(world) == []


async def test_passes_that_overlap_do_the_work_of_one(world: World) -> None:
    world.engine.down = True
    for n in range(3):
        await world.message(JOB, f"m{n}")
    world.engine.down = False
    for n in range(3, 6):
        await world.message(JOB, f"m{n}")
    for name in world.engine.started:
        world.engine.set_state(name, JobState.SUCCEEDED)
    world.pass_time(3600)

    await asyncio.gather(*(make_pass(world.ports) for _ in range(4)))
    await drained(world, 3)

    assert len(world.engine.started) == len(set(world.engine.started)) == 6
    assert states(world) == ["succeeded"] * 6
    bodies = {identity: body for _, identity, body in world.webhooks.posts}
    assert {body for _, _, body in world.webhooks.posts} == set(bodies.values())


@pytest.mark.parametrize("days", [-3650, -3, -0.1, 0.1, 3, 3650])
@pytest.mark.parametrize("when", ["while it is submitted", "while it runs", "while it is told"])
async def test_a_clock_that_jumps_and_comes_back_holds_nothing_up(
    world: World, days: float, when: str
) -> None:
    jump = timedelta(days=days)
    world.engine.down = when == "while it is submitted"
    job = (await world.message(JOB)).job
    if when == "while it is told":
        world.webhooks.answers = [replace(world.webhooks.answers[0], outcome="retry", status=503)]
        world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    world.now += jump
    for _ in range(2):
        await world.make_pass(60)
    world.now -= jump
    world.engine.down = False
    world.webhooks.answers = [replace(world.webhooks.answers[0], outcome="delivered", status=204)]

    for _ in range(15):
        for name, observation in list(world.engine.jobs.items()):
            if not observation.state.terminal:
                world.engine.set_state(name, JobState.SUCCEEDED)
        messages, world.queues.messages[:] = list(world.queues.messages), []
        await world.make_pass(900)  # in all longer than the short jump: an event may be late by as much
        for _, body, _ in messages:  # a queue counts its delays by a clock of its own
            wake = json.loads(body)
            await deliver(world.ports, wake["job"], wake["sequence"])

    assert (await world.job(job.id)).state is JobState.SUCCEEDED
    assert len(world.engine.started) == 1
    assert {url for url, _, _ in world.webhooks.posts} == {HOOK["url"]}
    assert leftovers(world) == []
