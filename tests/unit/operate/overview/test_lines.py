"""A list's lines: how each job failed, and when each one that waits starts, at a cost that does not grow."""

from __future__ import annotations

import pytest

from shared.core.caller import KEY_HOLDER
from shared.core.job import JobState, Reason
from shared.core.teams.document import Teams
from shared.operate import listing
from shared.operate.detail import detail
from shared.operate.overview.lines import lines
from shared.operate.overview.overview import overview
from shared.operate.overview.search import search_of
from tests.unit.operate.overview.test_overview import filled
from tests.unit.world import World, job_json

_LIMITS = {"constraints": {"maxWallClockTime": "PT1H"}}


async def shown(world: World) -> dict[str, dict[str, object]]:
    page = await listing.jobs(world.ports, {"limit": "200"})
    return {one["name"]: one for one in await lines(world.ports, page.jobs)}


async def fail(world: World, name: str, error: str) -> None:
    (attempt,) = [one for one in world.engine.started if one.startswith(f"{name}-")]
    world.engine.output["stderr.txt"] = f"{error}\n".encode()
    world.engine.set_state(attempt, JobState.FAILED, reason=Reason.USER)
    await world.make_pass(60)


async def test_failures_with_one_cause_have_one_signature_and_others_have_none(world: World) -> None:
    for number in range(2):
        await world.named(f"train-{number}")
        await fail(world, f"train-{number}", f"ValueError: shard {number}7 is empty")
    await world.named("runs")

    by_name = await shown(world)

    assert {by_name[f"train-{number}"]["signature"] for number in range(2)} == {
        "ValueError: shard # is empty"
    }
    assert "signature" not in by_name["runs"]


async def test_each_job_that_waits_has_the_expectation_of_its_detail(world: World) -> None:
    quota = {"default": "vision", "teams": {"vision": {"quota": {"jobs": 2}}}}
    await world.ports.teams.put(Teams.model_validate(quota), "")
    first = await world.named("one", spec=job_json(**_LIMITS))
    await world.named("two", spec=job_json(**_LIMITS))
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    for name in ("third", "fourth"):
        await world.named(name)
        world.pass_time(1)
    await world.named("fifth", after=[first.id])
    await world.make_pass(60)

    by_name = await shown(world)

    details = {name: await detail(world.ports, str(one["id"]), KEY_HOLDER) for name, one in by_name.items()}
    expected = {name: one["expectedStart"] for name, one in details.items() if "expectedStart" in one}
    assert {name: one["expectedStart"] for name, one in by_name.items() if "expectedStart" in one} == expected
    assert set(expected) == {"two", "third", "fourth", "fifth"}
    assert "latest" in expected["third"]


@pytest.mark.long
@pytest.mark.parametrize("number", [200, 2_000])
async def test_lists_of_many_jobs_that_wait_read_the_others_once(number: int) -> None:
    world, table = await filled(number)
    jobs = (await listing.jobs(world.ports, {"limit": "200", "state": "active"})).jobs
    table.requests = 0

    await lines(world.ports, jobs)

    # A range of each of four shards for active jobs, and what all wait for.
    assert table.requests <= 4 + 2
    before, calls = table.requests, world.engine.calls
    for _ in range(20):
        assert all("expectedStart" in one for one in await lines(world.ports, jobs))
    assert (table.requests, world.engine.calls) == (before, calls)


@pytest.mark.parametrize(
    "conditions",
    [
        {"team": "vision"},
        {"experiment": "a"},
        {"contains": "TRAIN 1"},
        {"contains": "shard"},
        {"owner": "ann"},
        {"team": "vision", "contains": "train"},
        {},
    ],
)
async def test_an_overview_with_conditions_counts_what_a_list_of_them_has(
    world: World, conditions: dict[str, str]
) -> None:
    await world.ports.teams.put(Teams.model_validate({"default": "vision", "teams": {"vision": {}}}), "")
    await world.named("train-1", experiment="a")
    await fail(world, "train-1", "ValueError: shard 3 is empty")
    await world.named("train-2", experiment="b")
    await world.named("other", experiment="a")
    jobs = (await listing.jobs(world.ports, {**conditions, "limit": "200"})).jobs
    world.pass_time(6)

    counts = (await overview(world.ports, KEY_HOLDER, "all", "24h", search_of(conditions))).counts

    assert sum(counts.values()) == len(jobs)
    assert counts == {state: [job.state for job in jobs].count(JobState(state)) for state in counts}
