"""The overview: what it counts, for whom, what it costs, and how large it is."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.answers.overview import Overview
from shared.core.caller import KEY_HOLDER, SUBMIT, Caller
from shared.core.errors import Misuse
from shared.core.job import JobState, Reason
from shared.core.ledger.node_history import NodeHistory, Point
from shared.core.pacing.memo import Memo
from shared.core.teams.document import Teams
from shared.intake.arrive import message_arrived
from shared.lifecycle.archive import archive
from shared.operate.overview.overview import LARGEST, overview
from tests.doubles.memory import MemoryLedger, MemoryTable
from tests.unit.functions.calls import call
from tests.unit.functions.conftest import scene
from tests.unit.functions.scene import CALLERS, Scene
from tests.unit.world import World, job_json

__all__ = ["scene"]


async def end(world: World, name: str, error: str = "", state: JobState = JobState.FAILED) -> None:
    """The end of the attempt of a job."""
    (attempt,) = [one for one in world.engine.started if one.startswith(f"{name}-")]
    world.engine.output["stderr.txt"] = f"{error}\n".encode()
    world.engine.set_state(attempt, state, reason=Reason.USER if error else None)
    await world.make_pass(60)


async def end_now(world: World, name: str) -> None:
    """The same, so soon that an earlier reading of the active jobs still serves."""
    (attempt,) = [one for one in world.engine.started if one.startswith(f"{name}-")]
    world.engine.set_state(attempt, JobState.SUCCEEDED)
    await world.make_pass(0)


async def shown(world: World, who: Caller = KEY_HOLDER, scope: str = "all", since: str = "24h") -> Overview:
    world.pass_time(6)  # what was read before serves no longer
    return await overview(world.ports, who, scope=scope, since=since)


async def test_equal_failures_are_one_entry_with_first_last_and_number(world: World) -> None:
    for number in range(3):
        await world.named(f"train-{number}")
        await end(world, f"train-{number}", f"RuntimeError: CUDA out of memory: {number}4 MiB")
    await world.named("other")
    await end(world, "other", "FileNotFoundError: /data/x")

    body = await shown(world)

    largest, single = body.failures
    assert (largest.signature, largest.jobs) == ("RuntimeError: CUDA out of memory: # MiB", 3)
    assert largest.error == "RuntimeError: CUDA out of memory: 24 MiB"
    assert (largest.first.name, largest.last.name, largest.state) == ("train-0", "train-2", "failed")
    assert (single.signature, single.jobs, single.first) == ("FileNotFoundError: /data/x", 1, single.last)
    assert body.counts == {"failed": 4}


async def test_jobs_that_wait_for_the_same_are_one_entry(world: World) -> None:
    await world.ports.teams.put(
        Teams.model_validate({"default": "vision", "teams": {"vision": {"quota": {"jobs": 1}}}}), ""
    )
    for name in ("works", "first", "second"):
        await world.named(name)
        world.pass_time(1)
    await world.make_pass()

    body = await shown(world)

    (quota,) = [group for group in body.waiting if group.word == "TeamQuota"]
    assert (quota.subject, quota.jobs, quota.oldest.name, quota.next.name) == ("vision", 2, "first", "first")
    assert "vision" in quota.text
    assert body.counts == {"accepted": 2, "queued": 1}
    assert sum(group.jobs for group in body.waiting) == 3


async def test_the_next_of_a_quota_is_the_first_of_its_line(world: World) -> None:
    await world.ports.teams.put(
        Teams.model_validate({"default": "vision", "teams": {"vision": {"quota": {"jobs": 1}}}}), ""
    )
    jobs = [await world.named(name) for name in ("works", "first", "second")]
    await world.make_pass()
    row = next(key for key in world.ledger.held if key[1] == "u|vision")
    waiting = " ".join(job.id for job in reversed(jobs[1:]))
    assert "Waiting" in world.ledger.held[row].row
    world.ledger.held[row].row["Waiting"] = waiting

    (quota,) = [group for group in (await shown(world)).waiting if group.word == "TeamQuota"]

    assert (quota.oldest.name, quota.next.name) == ("first", "second")


async def test_a_pause_and_a_silent_cluster_are_reasons_too(world: World) -> None:
    world.policy(paused=True)
    await world.named("a")

    (group,) = (await shown(world)).waiting

    assert (group.word, group.subject, group.jobs) == ("Paused", "", 1)


async def test_a_job_of_an_unknown_reason_and_a_running_one(world: World) -> None:
    await world.named("queued")
    await world.named("runs")
    world.engine.set_state(world.engine.started[1], JobState.RUNNING)
    await world.make_pass()

    body = await shown(world)

    assert body.counts == {"queued": 1, "running": 1}
    assert [(group.word, group.jobs) for group in body.waiting] == [("", 1)]


async def test_ends_are_counted_since_a_moment(world: World) -> None:
    await world.named("a")
    await end(world, "a", "old")
    world.pass_time(7200)
    await world.named("b")
    await end(world, "b", "new")

    assert (await shown(world)).counts == {"failed": 2}
    late = await shown(world, since="1h")
    assert [group.signature for group in late.failures] == ["new"]
    since = world.now - timedelta(hours=1)
    assert timedelta() <= since - late.since < timedelta(minutes=10)
    assert (late.since.minute % 10, late.since.second) == (0, 0)


async def test_a_job_that_ends_between_two_readings_is_counted_once(world: World) -> None:
    await world.named("a")
    await overview(world.ports, KEY_HOLDER)
    await end_now(world, "a")

    answer = await overview(world.ports, KEY_HOLDER, since="2h")

    assert sum(answer.counts.values()) == 1


async def test_use_and_reservation_of_a_team_without_a_quota_are_of_its_jobs(world: World) -> None:
    await world.ports.teams.put(Teams.model_validate({"default": "vision", "teams": {"vision": {}}}), "")
    job = await world.named("ran")
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass(3600)
    await world.named("works")
    hours = (await world.job(job.id)).longest

    world.pass_time(400)
    (team,) = (await shown(world)).use

    assert (team.team, team.jobs, team.nodes) == ("vision", 1, 1)
    assert (team.gpu_hours, team.reserved_gpu_hours, team.limit_gpu_hours) == (0, 0, None)
    assert hours > 0


async def test_use_of_a_team_with_a_quota_is_that_of_its_record(world: World) -> None:
    quota = {"gpuHours": 500}
    teams = {"default": "vision", "teams": {"vision": {"quota": quota}}}
    await world.ports.teams.put(Teams.model_validate(teams), "")
    await world.named("works")

    (team,) = (await shown(world)).use

    assert (team.team, team.jobs, team.limit_gpu_hours, team.budget) == ("vision", 1, 500, None)


async def test_nodes_are_those_that_the_timer_saw_last(world: World) -> None:
    (before,) = (await shown(world)).clusters
    points = (Point(world.now, (1, 2, 0, 0, 0)),)
    await world.ports.node_histories.put(NodeHistory("dev", points, maximum=6))
    (after,) = (await shown(world)).clusters

    assert (before.name, before.nodes, before.at) == ("dev", None, None)
    assert after.nodes == {"idle": 1, "running": 2, "preparing": 0, "leaving": 0, "unusable": 0}
    assert (before.maximum, after.maximum) == (None, 6)


async def test_an_archived_job_is_not_counted(world: World) -> None:
    await world.named("a")
    await end(world, "a", "x")
    world.pass_time(32 * 86_400)
    await archive(world.ports)

    assert (await shown(world, since="90d")).counts == {}


# For whom


@pytest.mark.parametrize("kind", CALLERS)
@pytest.mark.parametrize("scope", ["mine", "team", "all"])
async def test_each_caller_counts_what_their_lists_have(scene: Scene, kind: str, scope: str) -> None:
    who = CALLERS[kind]
    headers = {"Authorization": f"Bearer {who.id}"}
    body = json.loads((await call("GET", f"/api/overview?scope={scope}", headers)).get_body())
    listed = json.loads((await call("GET", "/api/jobs?limit=200", headers)).get_body())["jobs"]
    teams = {one["name"] for one in json.loads((await call("GET", "/api/me", headers)).get_body())["teams"]}

    own = [job for job in listed if job.get("owner") == who.id]
    of_teams = [job for job in listed if job.get("team") in teams or job.get("owner") == who.id]
    jobs = {"mine": own, "team": of_teams, "all": listed}[scope]
    assert sum(body["counts"].values()) == len(jobs)
    assert {one["oldest"]["id"] for one in body["waiting"]} <= {job["id"] for job in jobs}
    shown_teams = {one["team"] for one in body["use"]}
    every = {"vision", "speech"} if scope == "all" and who.sees_all else teams
    assert shown_teams == every


@pytest.mark.parametrize("query", ["scope=ours", "since=soon", "scope=all&since=-1h"])
async def test_a_wrong_question_is_refused(scene: Scene, query: str) -> None:
    answer = await call("GET", f"/api/overview?{query}", {"Authorization": "Bearer ann"})
    assert answer.status_code == 400
    assert json.loads(answer.get_body())["remedy"]


async def test_an_unknown_scope_names_the_others(world: World) -> None:
    with pytest.raises(Misuse, match="there is no scope 'x'"):
        await overview(world.ports, KEY_HOLDER, "x")


async def test_the_same_answer_is_304_and_a_change_is_not(scene: Scene) -> None:
    headers = {"Authorization": "Bearer ann"}
    first = await call("GET", "/api/overview", headers)
    headers["If-None-Match"] = first.headers["ETag"]
    scene.world.pass_time(30)
    same = await call("GET", "/api/overview", headers)
    await scene.ask("cancel_job", "ann")
    await scene.world.make_pass(30)
    changed = await call("GET", "/api/overview", headers)

    assert (same.status_code, same.get_body()) == (304, b"")
    assert changed.status_code == 200


# Cost and size


class Counted(MemoryTable):
    """The requests that the service would answer, and the rows and bytes in them."""

    requests = read = size = 0

    async def rows(self, key_range: Any) -> list[dict[str, Any]]:
        rows = await super().rows(key_range)
        chosen = [{name: row[name] for name in key_range.select or row if name in row} for row in rows]
        self.requests += 1 + len(rows) // 1_000
        self.read += len(rows)
        self.size += len(json.dumps(chosen))
        return chosen

    async def get(self, partition: str, row: str) -> Any:
        self.requests += 1
        return await super().get(partition, row)


async def filled(number: int) -> tuple[World, Counted]:
    """A deployment with so many jobs and one more, a tenth at work, in a process that has just started."""
    world = World()
    table = Counted(world.clock)
    world.use(ledger=(ledger := MemoryLedger(world.clock, table=table)))
    job = await world.named("one")
    for at in range(number):
        state = JobState.QUEUED if at % 10 == 0 else JobState.FAILED if at % 10 == 1 else JobState.SUCCEEDED
        moment = world.now - timedelta(seconds=at)
        entry = job.history[-1].model_copy(update={"state": state, "at": moment, "token": f"t{at}"})
        copy = job.model_copy(
            update={
                "id": f"j_{at:024d}".replace("0", "a").replace("1", "b").replace("8", "c").replace("9", "d"),
                "key": f"k{at}",
                "name": f"job-{at}",
                "state": state,
                "created": moment,
                "history": (entry,),
                "last_error": f"ValueError: cause {'abcdefghij'[at // 10 % 10]} in shard {at}",
            }
        )
        await ledger.create(copy, None, None)
    table.requests = table.read = table.size = 0
    return world, table


@pytest.mark.long
@pytest.mark.parametrize("number", [200, 2_000])
async def test_its_cost_is_some_requests_however_many_ask(number: int) -> None:
    world, table = await filled(number)

    bodies = await asyncio.gather(*(overview(world.ports, KEY_HOLDER) for _ in range(3)))
    again = await overview(world.ports, Caller("ann", frozenset({SUBMIT})))

    # A range of each of four shards for active jobs, one for ends, one for the month.
    assert table.requests <= 3 * (12 + 4)
    before = table.requests
    for _ in range(30):
        await overview(world.ports, KEY_HOLDER)
    assert table.requests == before
    assert bodies[0] == bodies[1] == bodies[2]
    assert sum(bodies[0].counts.values()) == number + 1
    assert again.counts == {}
    assert [group.jobs for group in bodies[0].failures] == [number // 100] * 10


@pytest.mark.long
@pytest.mark.parametrize("number", [200, 2_000])
async def test_one_caller_costs_some_requests_and_the_rows_of_the_time(number: int) -> None:
    world, table = await filled(number)

    await overview(world.ports, KEY_HOLDER)

    assert table.requests <= 12 + 4
    assert table.read <= number // 10 + 2 * number + 4
    assert table.size < 1_500 * table.read


@pytest.mark.parametrize("number", [800, 2_000])
async def test_what_was_read_is_not_read_again_and_ends_since_then_are_counted(number: int) -> None:
    world, table = await filled(number)
    first = await overview(world.ports, KEY_HOLDER)

    for minutes in (1, 5):  # the ends of some seconds, and the sum of the month
        world.pass_time(60 * minutes)
        await world.message({"spec": job_json(nodeCuont=1), "name": "wrong"}, f"m{minutes}")
        before, active = table.read, number // 10
        again = await overview(world.ports, KEY_HOLDER)
        # Of the ends, those of the last ten minutes: one in each second until the start.
        assert table.read - before <= active + 2 * 600 + 10

    counted = sum(one.jobs for one in again.failures) - sum(one.jobs for one in first.failures)
    assert counted == again.counts["rejected"] == 2
    world.use(memo=Memo())
    assert await overview(world.ports, KEY_HOLDER) == again


async def test_an_end_that_a_slow_process_recorded_late_is_counted_once(world: World) -> None:
    job = await world.named("one")
    await overview(world.ports, KEY_HOLDER)
    world.pass_time(120)
    slow = replace(world.ports, clock=lambda: world.now - timedelta(minutes=3))
    (late,) = await message_arrived(slow, json.dumps({"spec": job_json(nodeCuont=1)}).encode(), "m")
    assert late.job.stage.at < job.created

    for _ in range(3):
        shown = await overview(world.ports, KEY_HOLDER)
        assert shown.counts["rejected"] == 1
        assert sum(one.jobs for one in shown.failures) == 1
        world.pass_time(301)


async def test_where_too_many_have_ended_it_says_since_when_they_are_counted(world: World) -> None:
    for number in range(12):
        await world.message({"spec": job_json(nodeCuont=1), "name": f"n{number}"}, f"m{number}")
        world.pass_time(60)

    ended = await world.ports.ledger.ended(world.now - timedelta(days=1), 2)

    assert ended.since > world.now - timedelta(minutes=12)
    assert all(job.at >= ended.since for job in ended.jobs)
    whole = await world.ports.ledger.ended(world.now - timedelta(days=1), 1000)
    assert [job for job in whole.jobs if job.at >= ended.since] == list(ended.jobs)
    assert whole.since == world.now - timedelta(days=1)


@pytest.mark.long
async def test_at_its_worst_it_has_8_kb_and_says_what_was_left_out(world: World) -> None:
    world.policy(max_jobs_per_hour=10_000)
    words = ["é" * 60, "漢" * 60, "💥" * 40, "x" * 60]
    for number in range(120):
        name = "".join(chr(ord("a") + int(digit)) for digit in f"{number:03d}")
        await world.named(name)
        attempt = world.engine.started[-1]
        world.engine.output["stderr.txt"] = f"{name}Error: {words[number % 4]} {name} {'y' * 200}\n".encode()
        world.engine.set_state(attempt, JobState.FAILED, reason=Reason.USER)
        await world.make_pass(1)

    body = await shown(world)

    size = len(json.dumps(body.as_json(), ensure_ascii=False).encode())
    assert LARGEST - 1_000 < size <= LARGEST
    assert body.left_out is not None
    assert len(body.failures) + body.left_out.failures == 120
    assert body.counts == {"failed": 120}
