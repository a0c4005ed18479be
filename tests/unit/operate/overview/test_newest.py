"""The overview's newest jobs: what runs, what ended last, when something becomes free, ends by the hour."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from shared.core.cost.usage import Usage
from shared.core.job import JobState
from shared.core.ledger.ended import Ended
from shared.core.teams.document import Teams
from shared.operate.overview.newest import ENDED, PARTS, RUNNING, ended, ends_by_time
from tests.unit.operate.overview.test_overview import end, shown
from tests.unit.world import World

NOW = datetime(2026, 11, 28, 9, 31, tzinfo=UTC)


def ending(at: datetime, state: JobState = JobState.SUCCEEDED, error: str = "") -> Ended:
    return Ended(f"j_{at:%H%M%S}", at, state, "http:ann", "", "", "a", error, Usage(), 12.4)


async def start(world: World, name: str) -> None:
    """A job that runs."""
    await world.named(name)
    world.engine.set_state(world.engine.started[-1], JobState.RUNNING)
    await world.make_pass(60)


async def test_the_newest_running_jobs_have_their_limits(world: World) -> None:
    for number in range(RUNNING + 2):
        await start(world, f"train-{number}")

    body = await shown(world)

    assert [job.name for job in body.running] == [f"train-{number}" for number in range(13, 1, -1)]
    assert body.counts == {"running": RUNNING + 2}
    newest, *_ = body.running
    job = await world.job(newest.id)
    assert (newest.since, newest.nodes) == (job.started, job.nodes)
    assert newest.until is not None
    assert newest.until - newest.since == timedelta(hours=job.longest)


async def test_the_last_ends_have_how_long_they_ran_and_why_they_failed(world: World) -> None:
    await start(world, "slow")
    await end(world, "slow", "ValueError: loss is NaN")
    await world.named("quick")
    await end(world, "quick", state=JobState.SUCCEEDED)

    last, first = (await shown(world)).ended

    assert (first.name, first.state, first.error) == ("slow", "failed", "ValueError: loss is NaN")
    assert first.ran > 0
    assert (last.name, last.state, last.error) == ("quick", "succeeded", None)


def test_of_many_ends_the_last_ones_are_listed_and_long_errors_are_cut() -> None:
    jobs = [ending(NOW - timedelta(minutes=at), JobState.FAILED, "x" * 300) for at in range(20)]

    listed = ended(jobs)

    assert [one.at for one in listed] == [NOW - timedelta(minutes=at) for at in range(ENDED)]
    assert {(one.ran, len(one.error or ""), one.owner) for one in listed} == {(12, 80, "ann")}


@pytest.mark.parametrize(
    ("back", "hours", "parts"),
    [
        (timedelta(minutes=10), 1, 1),
        (timedelta(hours=24), 1, 24),
        (timedelta(hours=24, minutes=9), 1, 24),
        (timedelta(hours=40), 2, 20),
        (timedelta(days=7), 7, 24),
        (timedelta(days=90), 90, 24),
    ],
)
def test_ends_are_counted_in_about_24_parts(back: timedelta, hours: int, parts: int) -> None:
    since = NOW - back
    jobs = [ending(since), ending(NOW), ending(NOW, JobState.LOST), ending(NOW, JobState.CANCELLED)]

    counts = ends_by_time(jobs, since, NOW)

    assert (counts.hours, len(counts.succeeded), len(counts.failed)) == (hours, parts, parts)
    assert parts <= PARTS
    assert (sum(counts.succeeded), sum(counts.failed)) == (2, 1)
    assert counts.succeeded[0] > 0
    assert counts.failed[-1] == 1


async def test_what_becomes_free_first_is_known_by_the_limits_of_others(world: World) -> None:
    await world.ports.teams.put(
        Teams.model_validate({"default": "vision", "teams": {"vision": {"quota": {"jobs": 1}}}}), ""
    )
    await start(world, "works")
    await world.named("waits")
    await world.make_pass()

    body = await shown(world)

    (quota,) = [group for group in body.waiting if group.word == "TeamQuota"]
    (works,) = body.running
    assert quota.next_by == works.until is not None


async def test_of_a_pause_it_is_not_known(world: World) -> None:
    await start(world, "works")
    world.policy(paused=True)
    await world.named("waits")

    (group,) = (await shown(world)).waiting

    assert group.next_by is None
