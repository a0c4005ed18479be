"""A recall whose need is over: the job runs on, and what its cluster does to it later is its own act."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from shared.core.engine import Order
from shared.core.errors import Transient
from shared.core.job import Job, JobState, Reason, Target
from shared.operate.ends.cancel import cancel
from tests.unit.lifecycle.teams.test_claims import end, states
from tests.unit.lifecycle.teams.test_lending import BORROWER, LENDER, ask, borrow, lend
from tests.unit.lifecycle.teams.test_lending_trouble import share
from tests.unit.lifecycle.test_meter import Counting
from tests.unit.world import World

HOUR = 3600


class Deaf:
    """A cluster that ends no job, though it runs them."""

    def __init__(self, world: World) -> None:
        self.requests: list[str] = []
        self._cancel = world.engine.cancel
        world.engine.cancel = self.cancel  # type: ignore[method-assign]

    async def cancel(self, target: Target) -> None:
        self.requests.append(target.name)
        raise Transient("no answer")


class Silent:
    """A cluster that answers no submission before `speak`."""

    def __init__(self, world: World) -> None:
        self._world, self._submit = world, world.engine.submit
        world.engine.submit = self.submit  # type: ignore[method-assign]

    async def submit(self, order: Order) -> None:
        raise Transient("no answer")

    def speak(self) -> None:
        self._world.engine.submit = self._submit  # type: ignore[method-assign]


async def recalled(world: World) -> tuple[Job, Job, Job]:
    """A job on its own quota, one that borrows, and the lender's, for which that is recalled in vain."""
    first, second = await borrow(world)
    Deaf(world)
    third = await ask(world, LENDER, 3)
    await world.make_pass()
    assert (await world.job(second.id)).is_needed_back
    return first, second, third


async def by_the_cluster(world: World, job: Job) -> None:
    """Its administrator ends the job."""
    target = (await world.job(job.id)).fixed_target
    world.engine.set_state(target.name, JobState.CANCELLED, reason=Reason.TERMINATED)
    await world.make_pass()


async def lender_s_job_is_cancelled(world: World, third: Job) -> None:
    await cancel(world.ports, third.id)


async def lender_has_more(world: World, third: Job) -> None:
    await share(world, vision={"jobs": 3}, speech={"jobs": 1})
    await world.make_pass()
    await end(world, third)


@pytest.mark.parametrize("over", [lender_s_job_is_cancelled, lender_has_more])
async def test_a_recall_that_is_not_needed_any_more_is_taken_back(
    world: World, over: Callable[[World, Job], Awaitable[None]]
) -> None:
    _, second, third = await recalled(world)
    await over(world, third)
    await world.make_pass()
    assert not (await world.job(second.id)).is_needed_back

    await world.make_pass(HOUR + 1)
    assert not (await world.job(second.id)).is_recalled
    await by_the_cluster(world, second)

    job = await world.job(second.id)
    assert (job.state, job.attempt) == (JobState.CANCELLED, 1)
    assert job.message.startswith("cancelled on the cluster and not here")


async def test_an_end_that_may_still_come_of_the_recall_is_followed_by_another_attempt(world: World) -> None:
    _, second, third = await recalled(world)
    await cancel(world.ports, third.id)
    await world.make_pass()
    await world.make_pass(HOUR - 120)

    await by_the_cluster(world, second)

    job = await world.job(second.id)
    assert job.claim is not None
    assert (job.attempt, job.claim.returns) == (2, 1)  # given back: what ended it was the recall


async def fails(world: World, job: Job) -> None:
    """Its attempt fails for a reason of the cluster's own."""
    target = (await world.job(job.id)).fixed_target
    world.engine.set_state(target.name, JobState.FAILED, reason=Reason.INFRASTRUCTURE)
    await world.make_pass()


async def test_an_attempt_that_fails_after_the_need_is_over_keeps_its_claim_and_counts_as_no_recall(
    world: World,
) -> None:
    world.use(meter=(meter := Counting()))
    _, second, third = await recalled(world)
    await cancel(world.ports, third.id)
    await world.make_pass()
    await ask(world, BORROWER, 9)

    await fails(world, second)

    job = await world.job(second.id)
    assert (job.attempt, job.is_recalled) == (2, False)
    assert job.claim is not None
    assert job.claim.returns == 0
    assert ("slipway.loans.recalled", BORROWER) not in meter.counts
    await world.make_pass(HOUR)
    assert (await world.job(second.id)).state is JobState.QUEUED


async def test_an_attempt_that_fails_while_its_lender_needs_the_claim_gives_it_back(world: World) -> None:
    world.use(meter=(meter := Counting()))
    _, second, _ = await recalled(world)

    await fails(world, second)

    job = await world.job(second.id)
    assert job.claim is not None
    assert (job.attempt, job.claim.returns, job.is_recalled) == (2, 1, False)
    assert meter.counts["slipway.loans.recalled", BORROWER] == 1


async def test_a_new_need_within_the_hour_recalls_the_job_again(world: World) -> None:
    _, second, third = await recalled(world)
    await cancel(world.ports, third.id)
    await world.make_pass()
    deaf = Deaf(world)
    await ask(world, LENDER, 4)

    await world.make_pass()
    assert (await world.job(second.id)).is_needed_back
    assert deaf.requests == [(await world.job(second.id)).fixed_target.name]
    await world.make_pass(2 * HOUR)
    assert (await world.job(second.id)).is_needed_back


async def test_a_clock_that_went_back_starts_the_hour_anew(world: World) -> None:
    _, second, third = await recalled(world)
    await cancel(world.ports, third.id)
    world.now += timedelta(days=30)
    await world.make_pass()
    world.now -= timedelta(days=30)

    await world.make_pass()
    await world.make_pass(HOUR - 60)
    assert (await world.job(second.id)).is_recalled
    await world.make_pass(120)
    assert not (await world.job(second.id)).is_recalled


async def test_a_job_that_its_cluster_may_have_taken_keeps_what_its_lender_needs(world: World) -> None:
    await lend(world)
    await ask(world, BORROWER, 0)
    Silent(world)
    second = await ask(world, BORROWER, 1)
    await world.make_pass()
    await ask(world, LENDER, 3)
    for _ in range(3):
        await world.make_pass(2 * HOUR)

    job = await world.job(second.id)
    assert (job.state, job.is_needed_back) == (JobState.SUBMITTING, True)


async def test_a_job_that_its_cluster_takes_after_the_need_is_over_runs(world: World) -> None:
    await lend(world)
    first = await ask(world, BORROWER, 0)
    silent = Silent(world)
    second = await ask(world, BORROWER, 1)
    await world.make_pass()
    third = await ask(world, LENDER, 3)
    await world.make_pass()
    assert await states(world, first, second) == [JobState.QUEUED, JobState.SUBMITTING]
    assert (await world.job(second.id)).is_needed_back
    await cancel(world.ports, third.id)
    await world.make_pass(1)
    silent.speak()
    deaf = Deaf(world)

    await world.make_pass(600)

    assert await states(world, second) == [JobState.QUEUED]
    assert deaf.requests == []


async def test_many_recalls_of_a_pass_are_made_at_once_and_one_that_fails_stops_no_other(
    world: World,
) -> None:
    await share(world, a={"jobs": 4}, b={"jobs": 1})
    jobs = [await ask(world, "b", number) for number in range(5)]
    await world.make_pass()
    assert await states(world, *jobs) == [JobState.QUEUED] * 5
    await share(world, a={"jobs": 3}, b={"jobs": 1})
    most = together = 0

    async def slowly(target: Target) -> None:
        nonlocal most, together
        together += 1
        most = max(most, together)
        await asyncio.sleep(0)
        together -= 1
        raise Transient("no answer")

    world.engine.cancel = slowly  # type: ignore[method-assign]
    [await ask(world, "a", number) for number in (6, 7, 8)]

    await world.make_pass()
    await world.make_pass()

    assert [(await world.job(one.id)).is_recalled for one in jobs] == [False, *[True] * 4]
    assert most > 1
