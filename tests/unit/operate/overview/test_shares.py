"""What jobs used and may still use: by caller, by experiment, and of teams without a quota."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.core.cost.prices import prices_from
from shared.core.job import JobState
from tests.unit.functions.calls import call, use
from tests.unit.functions.conftest import scene
from tests.unit.functions.scene import CALLERS, Scene
from tests.unit.world import World, job_json

__all__ = ["scene"]
PRICE = {"currency": "USD", "date": "2026-01-01", "source": "an example"}


async def usage(who: str, query: str = "") -> dict[str, Any]:
    answer = await call("GET", f"/api/usage{query}", {"Authorization": f"Bearer {who}"})
    assert answer.status_code == 200, answer.get_body()
    body: dict[str, Any] = json.loads(answer.get_body())
    return body


async def run(scene: Scene, who: str, experiment: str, hours: float) -> None:
    """A job that ran so long, and one that is at work."""
    for _ in range(2):
        await scene.ask("post_job", who, {"spec": job_json(), "experiment": experiment})
    attempt = scene.world.engine.started[-2]
    scene.world.engine.set_state(attempt, JobState.RUNNING)
    await scene.world.make_pass(1)
    scene.world.engine.set_state(attempt, JobState.SUCCEEDED)
    await scene.world.make_pass(3600 * hours)


async def filled(scene: Scene) -> None:
    scene.world.policy(max_jobs_per_hour=1_000)
    await run(scene, "ann", "digits", 2)
    await run(scene, "bob", "digits", 1)
    await run(scene, "sam", "audio", 3)
    scene.world.pass_time(400)


async def test_owners_are_listed_with_what_they_used_and_reserved(scene: Scene) -> None:
    await filled(scene)

    shares = (await usage("dan", "?by=owner"))["shares"]

    hours = {one["owner"]: round(one["nodeHours"], 1) for one in shares}
    assert hours == {"sam": 3.0, "ann": 2.0, "bob": 1.0}
    assert {one["owner"]: one["team"] for one in shares} == {
        **{"sam": "speech", "ann": "vision", "bob": "vision"}
    }
    assert all(one["jobs"] == 1 and one["atWork"] >= 1 for one in shares)


async def test_experiments_are_listed_by_team(scene: Scene) -> None:
    await filled(scene)

    shares = (await usage("dan", "?by=experiment"))["shares"]

    assert {(one["team"], one["experiment"], one["jobs"]) for one in shares} >= {
        ("vision", "digits", 2),
        ("speech", "audio", 1),
    }


@pytest.mark.parametrize("kind", CALLERS)
@pytest.mark.parametrize("by", ["owner", "experiment"])
async def test_each_caller_sees_the_shares_of_jobs_that_they_see(scene: Scene, kind: str, by: str) -> None:
    await filled(scene)
    who = CALLERS[kind]
    jobs = json.loads(
        (await call("GET", "/api/jobs?limit=200", {"Authorization": f"Bearer {who.id}"})).get_body()
    )["jobs"]

    shares = (await usage(who.id, f"?by={by}"))["shares"]

    assert {(one["team"], one[by]) for one in shares} <= {(job["team"], job[by]) for job in jobs}
    assert sum(one["jobs"] for one in shares) == sum(job["state"] == "succeeded" for job in jobs)
    assert sum(one["atWork"] for one in shares) == sum("engine" in job for job in jobs) - sum(
        job["state"] == "succeeded" for job in jobs
    )


async def test_a_team_without_a_quota_has_its_use_of_this_month(scene: Scene) -> None:
    await filled(scene)

    (team,) = (await usage("bob"))["teams"]

    assert team["name"] == "vision"
    assert team["quota"] is None
    assert team["use"]["jobs"] >= 2
    (month,) = team["months"].values()
    assert (month["jobs"], round(month["nodeHours"], 1)) == (2, 3.0)


async def test_without_by_there_are_no_shares_and_another_word_is_refused(scene: Scene) -> None:
    assert "shares" not in await usage("ann")
    answer = await call("GET", "/api/usage?by=name", {"Authorization": "Bearer ann"})
    assert answer.status_code == 400


async def test_what_a_job_at_work_may_still_use_is_its_limit_at_its_price(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(world, monkeypatch)
    world.policy(prices=prices_from([{"cluster": "dev", "perHour": 0.5, **PRICE}]))
    limit = {"constraints": {"maxWallClockTime": "PT10H"}}
    await world.named("a", spec=job_json(**limit), experiment="e")

    (share,) = (await usage("", "?by=experiment"))["shares"]

    assert (share["experiment"], share["team"], share["jobs"], share["atWork"]) == ("e", None, 0, 1)
    assert share["reservedCost"] > 0
