"""Which jobs a list shows: by what people ask, and in a table that an older version filled."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import azure.functions as func
import pytest

from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.lists.listing import Bounds
from shared.core.caller import KEY_HOLDER, SUBMIT, Caller
from shared.core.errors import Misuse
from shared.core.job import Job, JobState
from shared.core.ledger.listing import brief
from shared.core.view import line, whole
from shared.intake.message import read_request
from shared.intake.request_door import request_arrived
from shared.lifecycle.archive import archive
from shared.operate.listing import jobs
from tests.unit.routes import ASKING, ROUTES
from tests.unit.world import World, job_json

ANN = Caller("ann", frozenset({SUBMIT}))
DAY = 86_400


async def filled(world: World) -> dict[str, str]:
    """Jobs of all kinds, by id what they are called: the first one is the newest."""
    names: dict[str, str] = {}
    for name, end, labels in (
        ("train-1", JobState.SUCCEEDED, {"team": "vision"}),
        ("train-2", JobState.FAILED, {"team": "speech", "run": "a=b"}),
        ("eval-1", JobState.FAILED, {}),
        ("train-3", None, {"team": "vision"}),
    ):
        message = {"name": name, "experiment": name[:4], "labels": labels, "spec": job_json()}
        accepted = await world.message(message, name)
        if end is not None:
            world.engine.set_state(world.engine.started[-1], end)
        await world.make_pass()
        names = {accepted.job.id: name, **names}
    return names


async def names_listed(
    world: World, names: dict[str, str], query: dict[str, str], who: Caller = KEY_HOLDER
) -> list[str]:
    page = await jobs(world.ports, query, who)
    assert not page.cut
    return [names[job.id] for job in page.jobs]


@pytest.mark.parametrize(
    ("query", "results"),
    [
        ({}, ["train-3", "eval-1", "train-2", "train-1"]),
        ({"state": "failed"}, ["eval-1", "train-2"]),
        ({"state": "active"}, ["train-3"]),
        ({"state": "queued"}, ["train-3"]),
        ({"state": "running"}, []),
        ({"state": "active,succeeded"}, ["train-3", "train-1"]),
        ({"state": "failed", "limit": "1"}, ["eval-1"]),
        ({"cluster": "DEV", "state": "failed", "limit": "1"}, ["eval-1"]),
        ({"name": "train-2"}, ["train-2"]),
        ({"name": "train"}, []),
        ({"name": "train-*"}, ["train-3", "train-2", "train-1"]),
        ({"experiment": "trai"}, ["train-3", "train-2", "train-1"]),
        ({"experiment": "trai", "state": "failed"}, ["train-2"]),
        ({"experiment": "trai", "state": "active"}, ["train-3"]),
        ({"cluster": "dev"}, ["train-3", "eval-1", "train-2", "train-1"]),
        ({"cluster": "prod"}, []),
        ({"cluster": "dev", "state": "failed"}, ["eval-1", "train-2"]),
        ({"label": "team"}, ["train-3", "train-2", "train-1"]),
        ({"label": "team=vision"}, ["train-3", "train-1"]),
        ({"label": "run=a=b"}, ["train-2"]),
        ({"label": "team="}, []),
        ({"source": "queue"}, ["train-3", "eval-1", "train-2", "train-1"]),
        ({"source": "drop,http"}, []),
        ({"since": "130s"}, ["train-3", "eval-1"]),
        ({"since": "3m", "state": "failed"}, ["eval-1", "train-2"]),
        ({"since": "1w"}, ["train-3", "eval-1", "train-2", "train-1"]),
        (
            {"label": "team", "name": "train-*", "since": "1h", "state": "failed,queued"},
            ["train-3", "train-2"],
        ),
    ],
    ids=str,
)
async def test_a_list_has_what_is_asked_for_newest_first(
    world: World, query: dict[str, str], results: list[str]
) -> None:
    names = await filled(world)
    assert await names_listed(world, names, query) == results


async def test_a_moment_is_one_with_a_zone_or_of_utc(world: World) -> None:
    names = await filled(world)
    moment = (world.now - timedelta(seconds=130)).replace(tzinfo=None).isoformat()
    for written in (moment, f"{moment}Z", f"{moment}+00:00"):
        assert await names_listed(world, names, {"since": written}) == ["train-3", "eval-1"]


@pytest.mark.parametrize(
    "query",
    [
        {"state": "sleeping"},
        {"state": "succeeded,x"},
        {"state": "succeeded,"},
        {"limit": "0"},
        {"limit": "201"},
        {"limit": "-1"},
        {"limit": "ten"},
        {"limit": "9" * 5000},
        {"source": "email"},
        {"name": "train*1"},
        {"name": "*1"},
        {"name": "**"},
        {"label": "=x"},
        {"since": "yesterday"},
        {"since": "-2h"},
        {"since": "999999w"},
        {"since": "2026-01-01T00:00:00 01:00"},
        {"after": "x"},
    ],
    ids=str,
)
async def test_a_wrong_question_is_refused_with_a_remedy(world: World, query: dict[str, str]) -> None:
    with pytest.raises(Misuse) as caught:
        await jobs(world.ports, query)
    assert caught.value.status == 400
    assert caught.value.remedy
    assert len(str(caught.value)) < 200


async def test_a_list_has_only_what_the_caller_may_see_and_a_full_page_of_it(world: World) -> None:
    names = await filled(world)
    request = read_request(
        json.dumps({"name": "mine", "spec": job_json()}).encode(), world.ports.policy.limits
    )
    mine = await request_arrived(world.ports, request, door="http", source=ANN.source, key="k", who=ANN)
    names[mine.job.id] = "mine"
    world.pass_time(1)
    names[(await world.message({"name": "other", "spec": job_json()}, "m9")).job.id] = "other"

    assert await names_listed(world, names, {"limit": "1"}, ANN) == ["mine"]
    assert await names_listed(world, names, {"state": "failed"}, ANN) == []
    assert await names_listed(world, names, {"owner": "ann"}, ANN) == ["mine"]
    assert await names_listed(world, names, {"owner": "ben"}, ANN) == []
    assert await names_listed(world, names, {"owner": "ann"}) == ["mine"]
    assert await names_listed(world, names, {"owner": "ben"}) == []
    assert await names_listed(world, names, {"owner": "ben"}, Caller("ben", frozenset({SUBMIT}))) == []


async def test_a_list_shows_every_job_as_its_record_has_it(world: World) -> None:
    names = await filled(world)
    page = await jobs(world.ports, {})
    for job in page.jobs:
        shown, record = line(job), whole(await world.job(job.id))
        assert shown == {name: record[name] for name in shown}
        assert set(record) - set(shown) <= {"history", "problems", "notify", "drop"}
    assert len(page.jobs) == len(names)


async def test_what_a_row_shows_is_bounded_and_holds_no_token(world: World) -> None:
    await filled(world)
    (job, *_) = (await jobs(world.ports, {})).jobs
    record = (await world.job(job.id)).model_copy(update={"problems": ({"message": "x" * 100_000},) * 9})
    text = brief(record).model_dump_json(exclude_defaults=True)
    assert len(text) < 2000
    tokens = [entry.token for entry in record.history]
    assert record.target is not None
    assert [token for token in (*tokens, record.target.token) if token in text] == []


# The table of an older version


async def test_an_archived_job_is_in_no_list(world: World) -> None:
    names = await filled(world)
    world.pass_time(32 * DAY)
    assert (await archive(world.ports)).jobs == 3
    for query in ({}, {"cluster": "dev"}):
        assert await names_listed(world, names, query) == ["train-3"]
    assert await names_listed(world, names, {"state": "failed"}) == []


# The API


async def listed(world: World, monkeypatch: pytest.MonkeyPatch, **params: str) -> dict[str, Any]:
    for module in ASKING:
        monkeypatch.setattr(module, "ports", lambda: world.ports)
    request = func.HttpRequest(method="GET", url="/api/jobs", params=params, body=b"")
    handler: Any = ROUTES["get_jobs"]
    answered = await handler(request)
    body: dict[str, Any] = json.loads(answered.get_body())
    return body


async def test_a_page_that_was_cut_says_so_and_goes_on_where_it_stopped(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = await filled(world)
    world.use(ledger=TableLedger(world.ledger.store, Bounds(seconds=-1.0)))
    results: list[str] = []
    query = {"label": "team=vision", "limit": "1"}
    body = await listed(world, monkeypatch, **query)
    while True:
        results += [names[job["id"]] for job in body["jobs"]]
        assert ("note" in body) == (not body["jobs"] and body["next"] is not None)
        if body["next"] is None:
            break
        body = await listed(world, monkeypatch, **query, after=body["next"])
    assert results == ["train-3", "train-1"]


async def test_the_api_lists_with_waiting_reasons_and_says_nothing_of_a_whole_page(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.policy(paused=True)
    job: Job = (await world.message(job_json())).job
    body = await listed(world, monkeypatch)
    assert set(body) == {"jobs", "next"}
    assert [one["id"] for one in body["jobs"]] == [job.id]
    assert body["jobs"][0]["waiting"]["word"]
