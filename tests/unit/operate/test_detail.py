"""One job in detail: its attempts, how its standard error ended, and when it is expected to start."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.core.caller import KEY_HOLDER
from shared.core.errors import Transient
from shared.core.job import JobState, Reason
from shared.core.ledger.listing import brief
from shared.core.teams.document import Teams
from shared.lifecycle.archive import archive
from shared.operate.detail import detail
from tests.unit.world import World, job_json

_TRACE = "".join(f"line {number}\n" for number in range(900)) + "ValueError: the key is s3cret\n"


async def shown(world: World, job_id: str) -> dict[str, Any]:
    return await detail(world.ports, job_id, KEY_HOLDER)


async def failed(world: World, written: str, **members: Any) -> dict[str, Any]:
    """The detail of a job that failed by its own fault."""
    job = await world.named("train", **members)
    world.engine.output = {"stderr.txt": written.encode()}
    world.engine.set_state(world.engine.started[-1], JobState.FAILED, reason=Reason.USER, exit_code=1)
    await world.make_pass()
    return await shown(world, job.id)


async def test_a_failed_job_has_the_last_lines_and_where_they_begin(world: World) -> None:
    secrets = [{"name": "TOKEN", "value": "s3cret"}]
    body = await failed(world, _TRACE, spec=job_json(secrets=secrets))

    last = body["errorLines"]
    assert last["file"] == "stderr.txt"
    assert last["lines"] == [*(f"line {number}" for number in range(881, 900)), "ValueError: the key is ***"]
    assert _TRACE.encode()[last["offset"] :].decode().splitlines()[0] == "line 881"


@pytest.mark.parametrize(
    ("written", "beginning"),
    [
        ("one\ntwo\n", "one"),
        ("one", "one"),
        ("a bar 1%\ra bar 99%\rdone\nboom\n", "a bar 1%"),
        ("\x1b[31mred\x1b[0m\nboom\n", "\x1b[31mred"),
        ("x\u2028y\nboom\n", "x\u2028y"),
        ("\n" * 50 + "boom\n", "\n"),
        ("ü" * 9000 + "\nboom\n", "boom"),
    ],
    ids=["two", "no end", "a bar", "colour", "separator", "blank", "long"],
)
async def test_the_lines_begin_at_their_place_or_a_little_after(
    world: World, written: str, beginning: str
) -> None:
    last = (await failed(world, written))["errorLines"]

    assert written.encode()[last["offset"] :].startswith(beginning.encode())
    assert len(last["lines"]) <= 20
    assert last["lines"][-1].strip()


async def test_the_lines_stay_after_the_cluster_is_gone_and_in_the_archive(world: World) -> None:
    last = (await failed(world, "boom\n"))["errorLines"]
    (job,) = world.ledger.jobs
    await world.make_pass()
    world.pass_time(32 * 86_400)
    assert (await archive(world.ports)).jobs == 1
    world.engine.down = True

    assert (await shown(world, job.id))["errorLines"] == last
    assert brief(job).error_lines is None


async def test_a_job_that_succeeded_has_no_error_lines(world: World) -> None:
    job = await world.named("a")
    world.engine.output = {"stderr.txt": b"a warning\n"}
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()

    assert "errorLines" not in await shown(world, job.id)


async def test_attempts_have_their_times_and_why_they_ended(world: World) -> None:
    job = await world.named("a", retry={"user": 1})
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.USER, exit_code=1)
    for _ in range(5):
        await world.make_pass()

    first, second = (await shown(world, job.id))["attempts"]

    assert (first["attempt"], first["state"], first["reason"]) == (1, "failed", "user")
    assert (second["attempt"], second["state"]) == (2, "queued")
    assert first["queuedAt"] < first["runningAt"] < first["endedAt"] <= second["queuedAt"]


# When it starts


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def test_a_job_in_the_queue_of_a_cluster_starts_as_explain_expects(world: World) -> None:
    job = await world.named("a")

    expected = (await shown(world, job.id))["expectedStart"]

    assert moment(expected["earliest"]) == (await world.job(job.id)).stage.at
    assert moment(expected["latest"]) > moment(expected["earliest"])
    assert expected["why"]


async def test_a_wait_that_takes_longer_says_so(world: World) -> None:
    job = await world.named("a")
    world.pass_time(3600)

    expected = (await shown(world, job.id))["expectedStart"]

    assert "takes longer than expected" in expected["why"]
    assert "latest" not in expected


async def test_a_cluster_that_does_not_answer_leaves_it_open_and_is_not_asked_each_time(
    world: World,
) -> None:
    job = await world.named("a")
    world.engine.down = True
    before = world.engine.calls

    for _ in range(5):
        expected = (await shown(world, job.id))["expectedStart"]

    assert "latest" not in expected
    assert world.engine.calls <= before + 1


async def test_behind_others_of_the_team_it_starts_when_they_have_ended_at_the_latest(world: World) -> None:
    quota = {"default": "vision", "teams": {"vision": {"quota": {"jobs": 2}}}}
    await world.ports.teams.put(Teams.model_validate(quota), "")
    limits = {"constraints": {"maxWallClockTime": "PT1H"}}
    for name in ("one", "two"):
        await world.named(name, spec=job_json(**limits))
        world.engine.set_state(world.engine.started[-1], JobState.RUNNING)
        await world.make_pass(60)
    waits = []
    for name in ("third", "fourth", "fifth"):
        waits.append(await world.named(name))
        world.pass_time(1)
    await world.make_pass(60)

    bodies = [await shown(world, job.id) for job in waits]

    starts = [moment(job["expectedStart"]["latest"]) for job in bodies[:2]]
    ends = sorted(job.started for job in world.ledger.jobs if job.started)
    assert starts == [start + timedelta(hours=1) for start in ends]
    assert "latest" not in bodies[2]["expectedStart"]
    assert [job["waiting"]["position"] for job in bodies] == [1, 2, 3]


async def test_a_job_that_waits_for_another_starts_after_that(world: World) -> None:
    first = await world.named("first", spec=job_json(constraints={"maxWallClockTime": "PT2H"}))
    waits = await world.named("waits", after=[first.id])
    assert "latest" not in (await shown(world, waits.id))["expectedStart"]
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()

    world.pass_time(60)
    expected = (await shown(world, waits.id))["expectedStart"]

    started = (await world.job(first.id)).started
    assert started is not None
    assert moment(expected["latest"]) == started + timedelta(hours=2)


async def test_a_job_whose_turn_of_the_hour_is_known_starts_then(world: World) -> None:
    world.policy(max_jobs_per_hour=1)
    await world.named("first")
    job = await world.named("second")

    expected = (await shown(world, job.id))["expectedStart"]

    assert job.slot is not None
    assert moment(expected["earliest"]) == moment(expected["latest"]) == job.slot


async def test_a_job_that_runs_was_cancelled_or_has_ended_has_no_expectation(world: World) -> None:
    job = await world.named("a")
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    assert "expectedStart" not in await shown(world, job.id)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    assert "expectedStart" not in await shown(world, job.id)


async def test_while_all_is_paused_it_is_unknown(world: World) -> None:
    world.policy(paused=True)
    job = await world.named("a")

    body = await shown(world, job.id)

    assert body["expectedStart"] == {"why": "unknown"}
    assert body["waiting"]["position"] == 1


@pytest.mark.parametrize("error", [Transient("no"), ValueError("of the adapter"), TimeoutError()])
async def test_a_cluster_that_fails_in_any_way_keeps_the_detail(world: World, error: Exception) -> None:
    job = await world.named("a")
    world.engine.refuses["nodes"] = error

    assert (await shown(world, job.id))["state"] == "queued"
