"""What a request learns or uses of another team by what it names: jobs to wait for, and dropped documents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.core.caller import READ_ALL, SUBMIT, Caller
from shared.core.errors import Misuse
from shared.core.job import Job, JobState
from shared.intake.message import read_request
from shared.intake.request_door import request_arrived
from shared.intake.teams import with_teams
from tests.unit.intake.drops.test_freeze import dropped
from tests.unit.intake.test_teams import ANN, BOB, EVE, VISION, ask, errors, share
from tests.unit.world import World, job_json

SPEECH = {"members": [{"user": "eve"}, {"user": "rita"}], "folders": ["speech"]}
RITA = Caller("rita", frozenset({SUBMIT, READ_ALL}))


async def waiting(world: World, folder: str, *names: str) -> Job:
    """The job of a folder that waits for jobs of these names or ids."""
    envelope = json.dumps({"after": names}).encode()
    files = {f"{folder}slipway.json": envelope, f"{folder}job.json": json.dumps(job_json()).encode()}
    (job,) = await dropped(world, files, folder)
    return job


async def test_a_drop_waits_for_jobs_of_its_team_only_and_learns_of_no_other(world: World) -> None:
    await share(world, teams={"vision": VISION, "speech": SPEECH})
    theirs, ours = await ask(world, EVE, name="merger-plan"), await ask(world, BOB, name="digits")

    named = await waiting(world, "vision/a/", "merger-plan", "merger-plam", theirs.id, f"{theirs.id[:-1]}x")
    by_name, by_id = await waiting(world, "vision/b/", "digits"), await waiting(world, "vision/c/", ours.id)

    assert (named.state, named.dependencies) == (JobState.REJECTED, ())
    texts = [one["message"] for one in named.problems if one["severity"] == "error"]
    assert texts == [
        'there is no job "merger-plan"',
        'there is no job "merger-plam"',
        f"there is no job {theirs.id}",
        f"there is no job {theirs.id[:-1]}x",
    ]
    assert [one.job for job in (by_name, by_id) for one in job.dependencies] == [ours.id, ours.id]


async def test_a_key_of_one_caller_joins_no_job_of_another(world: World) -> None:
    await share(world, teams={"vision": VISION, "speech": SPEECH})

    async def sent_by(who: Caller) -> str:
        body = json.dumps({"spec": job_json(), "idempotencyKey": "same"}).encode()
        request, who = read_request(body, world.ports.policy.limits), await with_teams(world.ports, who)
        arrived = request_arrived(world.ports, request, door="http", source=who.source, key="same", who=who)
        return (await arrived).job.id

    ids = [await sent_by(who) for who in (EVE, ANN, RITA, EVE)]

    assert len(set(ids)) == 3
    assert ids[0] == ids[3]


async def test_a_message_of_the_queue_waits_for_jobs_of_its_team_only(world: World) -> None:
    await share(world, teams={"vision": VISION, "speech": SPEECH})
    theirs, ours = await ask(world, EVE, name="merger-plan"), await ask(world, BOB, name="digits")

    async def arrived(*names: str) -> Job:
        message = {"team": "vision", "after": names, "spec": job_json()}
        return (await world.message(message, f"m{names}")).job

    named = await arrived("merger-plam", theirs.id)

    texts = [one["message"] for one in named.problems if one["severity"] == "error"]
    assert texts == ['there is no job "merger-plam"', f"there is no job {theirs.id}"]
    assert [one.job for one in (await arrived("digits", ours.id)).dependencies] == [ours.id]


async def test_a_drop_that_belongs_to_no_team_waits_for_jobs_of_none(world: World) -> None:
    await share(world, default=None)
    ours = await ask(world, BOB, name="digits")
    first = await waiting(world, "open/a/")

    assert (await waiting(world, "open/b/", ours.id)).state is JobState.REJECTED
    assert [one.job for one in (await waiting(world, "open/c/", first.id)).dependencies] == [first.id]


async def test_without_teams_a_drop_waits_for_any_job(world: World) -> None:
    job = await ask(world, BOB, name="digits")

    assert [one.job for one in (await waiting(world, "vision/a/", "digits")).dependencies] == [job.id]


async def named(world: World, who: Caller) -> Job:
    """The job of a dropped document of vision that a caller names."""
    body = json.dumps({"specBlob": "scripts/vision/p/job.json"}).encode()
    request = read_request(body, world.ports.policy.limits)
    return (await request_arrived(world.ports, request, door="http", source=who.source, key="k", who=who)).job


@pytest.mark.parametrize(("who", "may"), [(RITA, False), (EVE, False), (ANN, True)])
async def test_a_dropped_document_is_used_by_those_who_may_submit_for_its_team(
    world: World, who: Caller, may: bool
) -> None:
    """It may hold secrets, and a job of a caller's own code would read them."""
    await share(world, teams={"vision": VISION, "speech": SPEECH})
    document: dict[str, Any] = job_json(secrets=[{"name": "TOKEN", "value": "canary"}])
    world.drops.upload("vision/p/job.json", json.dumps(document).encode())
    who = await with_teams(world.ports, who)

    if may:
        assert errors(await named(world, who)) == []
    else:
        with pytest.raises(Misuse, match="submit for the team of its folder"):
            await named(world, who)
