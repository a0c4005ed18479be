"""What the sweeper's clock brings along: how often, after which mistakes, and in which process."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from shared.core.errors import Unavailable
from shared.core.job import JobState
from shared.core.ledger.entries import Unfinished
from shared.core.pacing.memo import Memo
from shared.core.ports import BlobPage
from shared.intake.upkeep import upkeep
from tests.doubles.memory import MemoryDrops, MemoryLedger
from tests.unit.functions.calls import use
from tests.unit.routes import BY_EVENT
from tests.unit.world import World, job_json

JOB = json.dumps(job_json()).encode()


class Listings(MemoryDrops):
    """Drops that count how often all of them are listed; they do not answer while `silent`."""

    listings = 0
    silent = False

    async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> BlobPage:
        if self.silent:
            raise Unavailable("storage answered 503")
        self.listings += prefix == "" and after == ""
        return await super().page(prefix, deep=deep, after=after)


class Silent(MemoryLedger):
    """A ledger that does not answer a pass."""

    async def unfinished(self, *_: object) -> Unfinished:
        raise Unavailable("storage answered 503")


@pytest.fixture
def drops(world: World) -> Listings:
    drops = Listings(world.clock)
    world.use(drops=drops)
    return drops


def new_process(world: World) -> None:
    """What a process remembers ends with it."""
    world.use(chores=Memo(), memo=Memo())


async def passes(world: World, number: int) -> None:
    """The ends of so many passes, one in each minute."""
    for _ in range(number):
        await upkeep(world.ports)
        world.pass_time(60)


async def test_an_inventory_is_made_at_once_and_then_every_other_minute(
    world: World, drops: Listings
) -> None:
    counts = []
    for _ in range(5):
        await passes(world, 1)
        counts.append(drops.listings)

    assert counts == [1, 1, 2, 2, 3]


async def test_a_new_process_does_at_once_what_an_earlier_one_may_have_left(
    world: World, drops: Listings
) -> None:
    for number in range(1, 4):
        new_process(world)
        await passes(world, 1)
        assert drops.listings == number


async def test_an_inventory_that_fails_is_made_by_the_next_pass_and_keeps_no_record_from_the_archive(
    world: World, drops: Listings
) -> None:
    drops.silent = True
    job = await world.named("m")
    await _end(world, job.id)
    world.policy(retention=timedelta(days=1), inventory_window=timedelta(hours=1))
    world.pass_time(3 * 86_400)
    drops.upload("d/e/job.json", JOB)

    await passes(world, 1)
    assert (await world.job(job.id)).archived
    drops.silent = False
    await passes(world, 1)

    assert drops.listings == 1


async def test_the_archive_runs_each_ten_minutes_and_an_early_one_leaves_no_later_one_out(
    world: World, drops: Listings
) -> None:
    world.policy(retention=timedelta(days=1), inventory_window=timedelta(hours=1))
    await passes(world, 1)
    job = await world.named("m")
    await _end(world, job.id)
    archived = []
    world.pass_time(86_400 - 5 * 60)
    for _ in range(17):
        await passes(world, 1)
        archived.append(bool((await world.job(job.id)).archived))

    assert archived[0] is False
    assert archived[-1] is True
    assert archived == sorted(archived)


@pytest.mark.parametrize("deadline", [0.0, -1.0])
async def test_what_a_run_has_no_time_for_the_next_pass_does(
    world: World, drops: Listings, deadline: float
) -> None:
    world.policy(inventory_deadline=deadline)
    for number in range(3):
        drops.upload(f"d/run{number}/job.json", JOB)
    world.pass_time(60)

    numbers = []
    for _ in range(4):
        await passes(world, 1)
        numbers.append(len(world.ledger.jobs))

    assert numbers == [1, 2, 3, 3]


async def test_without_an_interval_there_is_no_inventory(world: World, drops: Listings) -> None:
    world.policy(inventory_every=0.0)
    await passes(world, 3)
    assert drops.listings == 0


async def test_a_clock_that_goes_back_keeps_nothing_from_being_done(world: World, drops: Listings) -> None:
    await passes(world, 1)
    before = world.ports
    world.use(clock=lambda: before.clock() - timedelta(days=400))

    await upkeep(world.ports)

    assert drops.listings == 2


async def test_the_timer_makes_an_inventory_also_after_a_pass_that_failed(
    world: World, drops: Listings, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(world, monkeypatch)
    world.use(ledger=Silent(world.clock))

    with pytest.raises(Unavailable):
        await BY_EVENT["sweeper"](None)

    assert drops.listings == 1


async def _end(world: World, job_id: str) -> None:
    """The job ends as its cluster reports it, and its events are delivered."""
    for name in world.engine.jobs:
        world.engine.set_state(name, JobState.SUCCEEDED)
    await world.make_pass()
    assert (await world.job(job_id)).state.terminal
