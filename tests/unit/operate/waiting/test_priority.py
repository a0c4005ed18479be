"""Another priority for a job that waits: who is next by that, what its cluster gets, and who is refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from shared.core.caller import SUBMIT, Caller
from shared.core.errors import Misuse, Transient
from shared.core.job import Job, JobState, Stored
from shared.operate.detail import detail
from shared.operate.overview.lines import lines
from shared.operate.waiting.pause import pause_job, resume_job
from shared.operate.waiting.priority import priority_of, set_priority
from tests.unit.lifecycle.teams.test_claims import ask, end, share, states
from tests.unit.world import World, job_json

ANN = Caller("ann", frozenset({SUBMIT}))


def priority_in(document: Any) -> str:
    return str(document["properties"].get("schedulingPriority", ""))


async def test_a_job_with_a_higher_priority_is_next_in_its_team_s_line(world: World) -> None:
    await share(world, jobs=1)
    first, second, third = [await ask(world, number) for number in range(3)]
    await world.make_pass()

    stored = await set_priority(world.ports, third.id, "high", ANN_OF_ALL)
    await world.make_pass()
    (shown,) = await lines(world.ports, [await world.job(third.id)])
    assert (stored.job.priority, shown["priority"]) == ("high", "high")
    assert (await detail(world.ports, third.id, ANN_OF_ALL))["waiting"]["position"] == 1
    assert (await detail(world.ports, second.id, ANN_OF_ALL))["waiting"]["position"] == 2

    await end(world, first)
    await world.make_pass()
    assert await states(world, second, third) == [JobState.ACCEPTED, JobState.QUEUED]
    assert priority_in(world.engine.orders[-1].document) == "high"


async def test_a_job_with_a_low_priority_lets_younger_ones_pass(world: World) -> None:
    world.policy(max_active_jobs=1)
    first, second, third = [await ask(world, number) for number in range(3)]

    await set_priority(world.ports, second.id, "low")
    await end(world, first)
    await world.make_pass()

    assert await states(world, second, third) == [JobState.ACCEPTED, JobState.QUEUED]


async def test_the_record_says_who_changed_it_and_the_same_again_changes_nothing(world: World) -> None:
    world.policy(paused=True)
    job = (await world.message(job_json())).job

    await set_priority(world.ports, job.id, "high", ANN_OF_ALL)
    again = (await set_priority(world.ports, job.id, "high", ANN_OF_ALL)).job

    assert again.history[-1].note == "priority high instead of normal, by ann"
    assert again.sequence == job.sequence + 1
    assert again.waiting == job.waiting


@pytest.mark.parametrize(
    "document", [{}, {"priority": "urgent"}, {"priority": ["high"]}, {"priority": "high", "why": ""}]
)
def test_a_body_without_a_priority_is_refused(document: Mapping[str, Any]) -> None:
    with pytest.raises(Misuse, match="the body has `priority`") as refused:
        priority_of(document)

    assert refused.value.status == 400
    assert priority_of({"priority": "low"}) == "low"


async def test_a_priority_that_the_cluster_does_not_have_is_refused(world: World) -> None:
    world.policy(paused=True)
    job = (await world.message(job_json())).job
    world.engine.no_priorities = ["high"]

    with pytest.raises(Misuse, match="does not have the priority high") as refused:
        await set_priority(world.ports, job.id, "high")

    assert (refused.value.status, refused.value.remedy) == (409, "leave it out")
    assert (await world.job(job.id)).priority == ""


# Which jobs can be changed


Act = Callable[[World, Job], Awaitable[Stored]]
ACTS: dict[str, Act] = {
    "priority": lambda world, job: set_priority(world.ports, job.id, "high"),
    "pause": lambda world, job: pause_job(world.ports, job.id),
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("state", ["submitting", "queued", "running", "succeeded"])
async def test_only_a_job_that_no_cluster_has_can_be_changed(world: World, act: str, state: str) -> None:
    if state == "submitting":
        world.engine.fail = [Transient("no answer")]
    job = (await world.message(job_json())).job
    if state in ("running", "succeeded"):
        world.engine.set_state(world.engine.started[0], JobState(state))
        await world.make_pass()
    before = await world.job(job.id)
    assert before.state.value == state

    with pytest.raises(Misuse, match="only a job that no cluster has yet can") as refused:
        await ACTS[act](world, job)

    assert refused.value.status == 409
    assert refused.value.remedy
    assert await world.job(job.id) == before


@pytest.mark.parametrize("act", [*ACTS, "resume"])
async def test_who_may_not_change_a_job_changes_nothing_of_it(world: World, act: str) -> None:
    job = await paused_by_setting(world)
    acts: dict[str, Act] = {**ACTS, "resume": lambda world, job: resume_job(world.ports, job.id, ANN)}
    acts["pause"] = lambda world, job: pause_job(world.ports, job.id, "", ANN)
    acts["priority"] = lambda world, job: set_priority(world.ports, job.id, "high", ANN)

    with pytest.raises(Misuse) as refused:
        await acts[act](world, job)

    assert refused.value.status in (403, 404)
    assert await world.job(job.id) == job


async def paused_by_setting(world: World) -> Job:
    world.policy(paused=True)
    return (await world.message(job_json())).job


#: One who may change every job.
ANN_OF_ALL = Caller("ann")
