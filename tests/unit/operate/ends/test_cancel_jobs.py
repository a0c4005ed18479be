"""All jobs that fit are cancelled together: if they are as many as expected, and each by who may."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.core.caller import ADMIN, SUBMIT, Caller
from shared.core.errors import Misuse, Unavailable
from shared.core.job import JobState
from shared.operate.ends.cancel import cancel
from shared.operate.ends.cancel_jobs import Cancellation, Selection, end, request_of, select
from tests.unit.functions.calls import call, use
from tests.unit.functions.conftest import scene
from tests.unit.functions.scene import CALLERS, Scene
from tests.unit.functions.test_rights_table import TABLE
from tests.unit.world import World

__all__ = ["scene"]
DAN = Caller("dan", frozenset({ADMIN}))
ANN = Caller("ann", frozenset({SUBMIT}))


async def jobs(world: World, *names: str) -> list[str]:
    """Jobs that wait in their cluster's queue, by id, the newest first."""
    world.policy(max_jobs_per_hour=1_000)
    ids = []
    for name in names:
        ids.append((await world.named(name)).id)
        world.pass_time(1)
    return ids[::-1]


async def chosen(world: World, key: str | None = None, **conditions: str) -> Selection:
    request = request_of({"conditions": conditions, "expected": 0})
    return await select(world.ports, request, DAN, request.code(DAN, key))


async def test_all_that_fit_are_asked_to_end_the_newest_first_and_no_other(world: World) -> None:
    first, second, other = (await jobs(world, "other", "train-1", "train-2"))[:3]

    selection = await chosen(world, name="train-*")
    result = await end(world.ports, selection, DAN)

    assert [job.id for job in result.jobs] == [first, second]
    assert result.refused == ()
    assert [(await world.job(one)).cancel for one in (first, second, other)] == [True, True, False]


async def test_who_asked_is_in_the_history_of_each_job(world: World) -> None:
    (job_id,) = await jobs(world, "a")
    await end(world.ports, await chosen(world, state="queued"), DAN)
    await world.make_pass()

    job = await world.job(job_id)
    assert (job.state, job.cancelled_by) == (JobState.CANCELLED, "dan")
    assert [entry.by for entry in job.history if entry.by] == ["dan"]


async def test_the_first_who_asked_stays_in_the_record(world: World) -> None:
    (job_id,) = await jobs(world, "a")
    await cancel(world.ports, job_id, DAN)
    await cancel(world.ports, job_id)

    assert (await world.job(job_id)).cancelled_by == "dan"


async def test_a_job_that_has_ended_does_not_fit(world: World) -> None:
    active, ended = await jobs(world, "a", "b")
    world.engine.set_state((await world.job(ended)).fixed_target.name, JobState.SUCCEEDED)
    await world.make_pass()

    assert [job.id for job in (await chosen(world, cluster="dev")).jobs] == [active]
    assert (await chosen(world, name="a")).jobs == ()


@pytest.mark.parametrize("lost", ["before anything", "in between", "after everything"])
async def test_a_repetition_counts_the_jobs_of_the_first_try_and_goes_on(world: World, lost: str) -> None:
    ids = await jobs(world, "a", "b", "c")
    first = await chosen(world, "key", state="active")
    reached = {"before anything": 0, "in between": 1, "after everything": 3}[lost]
    await end(world.ports, Selection(first.jobs[:reached], first.code), DAN)
    await world.make_pass()  # what was asked to end has ended

    again = await chosen(world, "key", state="active")
    result = await end(world.ports, again, DAN)

    assert again.agrees(3)
    assert [job.id for job in result.jobs] == ids
    assert [(await world.job(one)).cancelled_by for one in ids] == ["dan"] * 3


@pytest.mark.parametrize("reached", [1, 2])
async def test_a_repetition_ends_no_job_that_came_after_the_first_try(world: World, reached: int) -> None:
    await jobs(world, "a", "b")
    first = await chosen(world, "key", state="active")
    await end(world.ports, Selection(first.jobs[:reached], first.code), DAN)
    world.pass_time(1)
    (late,) = await jobs(world, "late")

    again = await chosen(world, "key", state="active")
    other = await chosen(world, "other", state="active")

    assert again.agrees(2)
    assert late not in [job.id for job in again.jobs]
    assert late in [job.id for job in other.jobs]


async def test_after_a_first_try_fewer_may_be_left_and_otherwise_none(world: World) -> None:
    ids = await jobs(world, "a", "b")
    first = await chosen(world, "key", state="active")
    await end(world.ports, Selection(first.jobs[:1], first.code), DAN)
    world.engine.set_state((await world.job(ids[1])).fixed_target.name, JobState.SUCCEEDED)
    await world.make_pass()

    assert (await chosen(world, "key", state="active")).agrees(2)
    assert not (await chosen(world, "other", state="active")).agrees(2)
    assert not (await chosen(world, "key", state="active", cluster="dev")).agrees(2)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"conditions": {}, "expected": 1},
        {"conditions": {"state": "active"}},
        {"conditions": {"state": "active"}, "expected": True},
        {"conditions": {"state": "active"}, "expected": "1"},
        {"conditions": {"state": ""}, "expected": 1},
        {"conditions": {"state": 1}, "expected": 1},
        {"conditions": ["state"], "expected": 1},
        {"conditions": {"state": "active"}, "expected": 1, "force": True},
        {"conditions": {"error": "x"}, "expected": 1},
        {"conditions": {"limit": "1"}, "expected": 1},
        {"conditions": {"order": "ended"}, "expected": 1},
        {"conditions": {"state": "failed"}, "expected": 1},
        {"conditions": {"state": "active,lost"}, "expected": 1},
        {"conditions": {"since": "soon"}, "expected": 1},
    ],
    ids=str,
)
async def test_a_wrong_request_is_refused_with_a_remedy(world: World, document: dict[str, Any]) -> None:
    with pytest.raises(Misuse) as caught:
        await select(world.ports, request_of(document), DAN, "")
    assert caught.value.status == 400
    assert caught.value.remedy


async def test_more_than_one_request_may_cancel_are_refused_with_their_number_and_none_is_cancelled(
    scene: Scene,
) -> None:
    number = 501
    job = await scene.world.job(scene.values["id"])
    for at in range(number - 2):
        entry = job.history[-1].model_copy(update={"token": f"more{at}"})
        copy = {"id": f"{job.id[:-6]}{at:06d}".replace("0", "a").replace("1", "b"), "history": (entry,)}
        await scene.world.ledger.create(job.model_copy(update=copy), None, None)

    status, body = await ask("ann", {"state": "active"}, number)

    assert (status, body["number"]) == (409, number)
    assert "at most 500" in body["detail"]
    assert body["remedy"]
    assert not any(one.cancel for one in scene.world.ledger.jobs)


async def test_more_than_are_counted_are_refused(world: World) -> None:
    ids = await jobs(world, "a", "b", "c")
    request = request_of({"conditions": {"state": "active"}, "expected": 3})

    with pytest.raises(Misuse) as caught:
        await select(world.ports, request, DAN, "", counted=2)
    assert caught.value.status == 409
    assert [job.id for job in (await select(world.ports, request, DAN, "", counted=3)).jobs] == ids


async def test_what_there_is_no_time_for_is_named(world: World) -> None:
    await jobs(world, "a", "b")

    result = await end(world.ports, await chosen(world, state="active"), DAN, patience=0.0)

    assert result.jobs == ()
    assert len(result.refused) == 2
    assert "send the same request again" in result.refused[0].why


async def test_a_job_whose_record_cannot_be_written_is_named_and_the_others_end(world: World) -> None:
    ids = await jobs(world, "a", "b")
    selection = await chosen(world, state="active")
    row = next(key for key in world.ledger.held if key[1] == f"n|{ids[0]}")
    world.ledger.held[row].row["Packed0"] = "damaged"

    result = await end(world.ports, selection, DAN)

    assert [one.job.id for one in result.refused] == [ids[0]]
    assert [job.id for job in result.jobs] == ids[1:]


# The API


async def ask(
    who: str, conditions: dict[str, str], expected: int, key: str = ""
) -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {who}", "Content-Type": "application/json"}
    headers |= {"Idempotency-Key": key} if key else {}
    body = json.dumps({"conditions": conditions, "expected": expected}).encode()
    answer = await call("POST", "/api/jobs/cancel", headers, body)
    return answer.status_code, json.loads(answer.get_body())


@pytest.mark.parametrize("kind", CALLERS)
async def test_each_caller_cancels_what_they_may_and_sees_no_other(scene: Scene, kind: str) -> None:
    who = CALLERS[kind].id
    letter = dict(zip(CALLERS, TABLE["cancel_job"], strict=True))[kind]

    status, body = await ask(who, {"state": "active"}, 0 if letter == "." else 2)

    job = await scene.world.job(scene.values["id"])
    assert status in (200, 202)
    assert len(body["jobs"]) == (2 if letter == "y" else 0)
    why = "this is for its owner, for managers of its team, and for callers with the role Jobs.Admin"
    reasons = [why] * 2 if letter == "-" else []
    assert [one["why"] for one in body["refused"]] == reasons
    assert (job.cancel, job.cancelled_by) == ((True, who) if letter == "y" else (False, ""))


async def test_another_number_is_refused_with_the_true_one(scene: Scene) -> None:
    status, body = await ask("ann", {"state": "active"}, 3)

    assert (status, body["number"]) == (409, 2)
    assert not (await scene.world.job(scene.values["id"])).cancel


async def test_the_same_request_twice_is_answered_the_same(scene: Scene) -> None:
    first = await ask("mia", {"owner": "ann"}, 2, "key")
    await scene.world.make_pass()
    status, body = await ask("mia", {"owner": "ann"}, 2, "key")

    assert first[0] == 202
    assert status == 200
    assert [one["id"] for one in body["jobs"]] == [one["id"] for one in first[1]["jobs"]]
    assert (await ask("mia", {"owner": "ann"}, 2, "other key"))[0] == 409
    assert (await ask("ann", {"owner": "ann"}, 2, "key"))[0] == 409


async def test_its_owner_reads_who_cancelled_a_job_and_the_manager_finds_it_in_the_trail(
    scene: Scene,
) -> None:
    await ask("dan", {"owner": "ann"}, 2)
    headers = {"Authorization": "Bearer ann"}
    detail = json.loads((await call("GET", f"/api/jobs/{scene.values['id']}", headers)).get_body())
    listed = json.loads((await call("GET", "/api/jobs?limit=1", headers)).get_body())["jobs"]
    trail = json.loads((await call("GET", "/api/trail", {"Authorization": "Bearer mia"})).get_body())["acts"]

    assert [entry["by"] for entry in detail["history"] if "by" in entry] == ["dan"]
    assert [job["cancelledBy"] for job in listed] == ["dan"]
    assert (trail[0]["operation"], trail[0]["by"], trail[0]["team"]) == ("cancel_jobs", "dan", "vision")
    assert trail[0]["subject"] == "owner=ann: 2 jobs"


async def test_a_key_without_a_name_is_named_as_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    use(world, monkeypatch)
    (job_id,) = await jobs(world, "a")

    await call("POST", f"/api/jobs/{job_id}/cancel")

    assert (await world.job(job_id)).cancelled_by == "the holder of a function key"


async def test_jobs_of_a_cancelled_sweep_have_who_cancelled_it(scene: Scene) -> None:
    await scene.ask("cancel_sweep", "mia")
    await scene.world.make_pass()

    (job,) = [one for one in scene.world.ledger.jobs if one.sweep]
    assert (job.cancelled_by, [entry.by for entry in job.history if entry.by]) == ("mia", ["mia"])


def test_the_teams_of_a_cancellation_are_named_once() -> None:
    assert Cancellation((), ()).teams == ()


async def test_storage_that_does_not_answer_is_said_of_each_job(world: World) -> None:
    await jobs(world, "a")
    selection = await chosen(world, state="active")
    world.ledger.table.refusal = "storage answered 503"  # type: ignore[attr-defined]

    result = await end(world.ports, selection, DAN)

    assert [one.why for one in result.refused] == ["storage answered 503"]
    with pytest.raises(Unavailable):
        await cancel(world.ports, selection.jobs[0].id, DAN)
