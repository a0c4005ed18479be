"""A process that sleeps between a claim and the submission: what it knew then submits nothing any more."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from shared.admission.gates import QUOTA, Wait
from shared.core.job import Job, JobState, Stored
from shared.core.ledger.entries import Change
from shared.core.ports import Ports
from shared.lifecycle.dispatch import dispatch
from shared.lifecycle.sweeper import make_pass
from tests.unit.lifecycle.permits import permit_of, verdict_of
from tests.unit.lifecycle.teams.test_claims import end, states
from tests.unit.lifecycle.teams.test_lending import BORROWER, LENDER, ask, lend
from tests.unit.world import World


class Sleeper:
    """A process of its own, which has a permit for a job, and sleeps before it begins the submission."""

    def __init__(self, world: World, job_id: str) -> None:
        self.asleep, self.wake = asyncio.Event(), asyncio.Event()
        self._world, self._job_id = world, job_id
        self._ledger = world.ports.ledger

    @property
    def ports(self) -> Ports:
        """The same records, read by this process."""
        return replace(self._world.ports, ledger=self)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> object:
        return getattr(self._ledger, name)

    async def commit(self, changes: Sequence[Change]) -> list[Stored | None]:
        afters = [change.transition.after for change in changes]
        begins = any(job.id == self._job_id and job.state is JobState.SUBMITTING for job in afters)
        if begins and not self.asleep.is_set():
            self.asleep.set()
            await self.wake.wait()
        return await self._ledger.commit(changes)


async def recalled_meanwhile(world: World, job: Job) -> None:
    """Another process submits the job, which runs until the lender of its quota needs that."""
    await world.make_pass()
    world.engine.set_state((await world.job(job.id)).fixed_target.name, JobState.RUNNING, started=world.now)
    await world.make_pass()
    await ask(world, LENDER, 3)
    for _ in range(3):
        await world.make_pass()
    after = await world.job(job.id)
    assert (after.state, after.attempt) == (JobState.ACCEPTED, 2)
    assert after.claim is not None
    assert after.claim.returns == 1


async def test_a_pass_that_slept_meanwhile_submits_nothing_with_a_claim_that_was_given_back(
    world: World,
) -> None:
    await lend(world)
    first, second = [await ask(world, BORROWER, number) for number in range(2)]
    sleeper = Sleeper(world, second.id)
    passing = asyncio.create_task(make_pass(sleeper.ports))
    await sleeper.asleep.wait()

    await recalled_meanwhile(world, second)
    sleeper.wake.set()
    await passing

    assert await states(world, first, second) == [JobState.QUEUED, JobState.ACCEPTED]
    assert second.id not in (await world.ports.teams.use(BORROWER)).claims
    await end(world, first)
    await world.make_pass()
    assert await states(world, second) == [JobState.QUEUED]  # with a claim of its own


@pytest.mark.parametrize("knows", [True, False], ids=["an old claim", "no claim"])
async def test_a_job_without_its_claim_of_now_gets_no_permit(world: World, knows: bool) -> None:
    await lend(world)
    _, second = [await ask(world, BORROWER, number) for number in range(2)]
    await recalled_meanwhile(world, second)

    verdict = await verdict_of(world, second.id, claims={second.id: second.claim} if knows else {})

    assert isinstance(verdict, Wait)
    assert verdict.gate is QUOTA


async def test_a_permit_from_before_its_claim_was_given_back_submits_nothing(world: World) -> None:
    await lend(world)
    _, second = [await ask(world, BORROWER, number) for number in range(2)]
    permit = await permit_of(world, second.id, claims={second.id: second.claim})
    await recalled_meanwhile(world, second)
    submitted = len(world.engine.orders)

    assert await dispatch(world.ports, permit) is None

    assert len(world.engine.orders) == submitted
    assert (await world.job(second.id)).state is JobState.ACCEPTED
