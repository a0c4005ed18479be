"""What a job that installs packages gets of its cluster, and what its record says of them."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.sealing import AesSeal
from shared.core.errors import Transient
from shared.core.facts import Packages
from shared.core.job import Job, JobState
from shared.core.view import line
from tests.unit.lifecycle.teams.test_changed_teams import teams
from tests.unit.world import CLUSTER, Engines, World, job_json

KEY, OTHER = (base64.b64encode(letter * 32).decode() for letter in (b"k", b"o"))
COMMAND = "slipway_packages ./requirements.txt"
PROXY = {"index": "https://pypi.example.org/simple", "proxy": "http://proxy.example.org:3128"}


def cluster_with(world: World, **packages: str) -> None:
    facts = replace(CLUSTER.facts, packages=Packages(**packages))
    world.use(engines=Engines(world.engine, {"dev": replace(CLUSTER, facts=facts)}))


async def submitted(world: World, command: str = COMMAND, team: str = "", **properties: Any) -> Any:
    """What the cluster sets for the packages of a job; None for nothing."""
    spec = job_json(jobPreparation={"commandLine": command}, **properties)
    await world.message({"spec": spec, **({"team": team} if team else {})}, f"m{len(world.engine.orders)}")
    await world.make_pass()
    variables = world.engine.orders[-1].document["properties"]["environmentVariables"]
    values = [one["value"] for one in variables if one["name"] == "SLIPWAY_PACKAGES"]
    return json.loads(values[0]) if values else None


async def test_index_and_proxy_of_the_cluster_reach_the_jobs_that_install_packages(world: World) -> None:
    assert await submitted(world) is None
    cluster_with(world, **PROXY)

    assert await submitted(world) == PROXY
    assert await submitted(world, "pip list") is None


@pytest.mark.parametrize("kind", ["environmentVariables", "secrets"])
async def test_a_job_does_not_set_them_itself(world: World, kind: str) -> None:
    own = [{"name": name, "value": "own"} for name in ("SLIPWAY_PACKAGES", "SLIPWAY_TOKEN", "A")]
    properties: dict[str, Any] = {kind: own}
    await submitted(world, **properties)

    submission = world.engine.orders[-1].document["properties"]
    assert [one["name"] for one in submission[kind] if one["value"] == "own"] == ["A"]


async def kept_for(world: World, clusters: dict[str, list[str] | None]) -> Any:
    """What a job of the team `a` gets, if each team may use these clusters; None for all."""
    cluster_with(world, keep="/kept/")
    named = {name: {} if one is None else {"clusters": one} for name, one in clusters.items()}
    await teams(world, **named)
    return await submitted(world, team="a", constraints={"maxWallClockTime": "PT1H"})


@pytest.mark.parametrize("own", [["dev"], None])
async def test_environments_are_kept_for_the_team_that_has_the_cluster_for_itself(
    world: World, own: list[str] | None
) -> None:
    settings = await kept_for(world, {"a": own, "b": []})
    code = AesSeal([KEY]).code_of("dev\na")

    assert settings == {"keep": f"/kept/team-{code}", "seconds": 3600}
    assert len({code, AesSeal([KEY]).code_of("dev\nb"), AesSeal([OTHER]).code_of("dev\na")}) == 3


@pytest.mark.parametrize("others", [["dev"], None])
async def test_environments_are_not_kept_where_another_team_may_use_the_cluster(
    world: World, others: list[str] | None
) -> None:
    assert await kept_for(world, {"a": ["dev"], "b": others}) is None


async def test_environments_are_not_kept_while_a_job_of_another_team_from_before_is_at_work(
    world: World,
) -> None:
    await teams(world, a={}, b={})
    assert await submitted(world, "pip list", team="b") is None

    assert await kept_for(world, {"a": ["dev"], "b": []}) is None

    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    assert await submitted(world, team="a") is not None


async def test_without_teams_they_are_kept_for_all(world: World) -> None:
    cluster_with(world, keep="/kept")

    assert await submitted(world) == {"keep": "/kept/all", "seconds": 7 * 86_400}


async def ended(world: World, output: dict[str, bytes], command: str = COMMAND) -> Job:
    await world.message({"spec": job_json(jobPreparation={"commandLine": command})})
    world.engine.output = output
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED, exit_code=0)
    await world.make_pass()
    return world.ledger.jobs[0]


@pytest.mark.parametrize(
    ("name", "text", "seconds"),
    [
        ("stdout-job_prep.txt", b"x\nThe packages of requirements.txt were installed: 41 s\n", 41),
        ("stdout-job_prep-node0.txt", b"The packages of uv.lock were kept: 1 s\nmore\n", 1),
        ("stdout-job_prep.txt", b"Successfully installed tiny\n", None),
        ("stdout-job_prep.txt", b"The packages of x were installed: 99999999999999999999 s\n", None),
        ("stdout.txt", b"The packages of requirements.txt were installed: 41 s\n", None),
    ],
)
async def test_the_record_says_how_long_they_took(
    world: World, name: str, text: bytes, seconds: int | None
) -> None:
    job = await ended(world, {name: text})

    assert line(job).get("packagesSeconds") == seconds


async def test_nothing_is_read_for_a_job_that_installs_none(world: World) -> None:
    job = await ended(world, {"stdout-job_prep.txt": b"The packages of x were kept: 3 s\n"}, "pip list")

    assert (job.packages, world.engine.times("files")) == (None, 0)


async def test_a_job_ends_also_where_its_files_cannot_be_read(world: World) -> None:
    world.engine.refuses["files"] = Transient("no answer")

    job = await ended(world, {})

    assert (job.state, job.packages) == (JobState.SUCCEEDED, 0)
