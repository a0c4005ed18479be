"""`slipway cancel` with conditions: what a person is asked, what is sent, and what is shown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web
from typer.testing import CliRunner, Result

from slipway.main import app
from tests.doubles.server import answering, as_slipway


def job(number: int) -> dict[str, Any]:
    created = "2026-01-01T00:00:00Z"
    return {
        "id": f"j_{number}",
        "name": f"n{number}",
        "door": "http",
        "state": "queued",
        "createdAt": created,
    }


class Service:
    """The API, as far as a cancellation asks for it."""

    def __init__(self, jobs: int, refused: Sequence[dict[str, str]] = ()) -> None:
        self.jobs, self.refused = [job(number) for number in range(jobs)], list(refused)
        self.lists: list[dict[str, str]] = []
        self.cancels: list[dict[str, Any]] = []
        self.keys: list[str] = []
        #: jobs that end after the first request, and others that fit then
        self.end_by_itself, self.more = set[str](), list[dict[str, Any]]()
        #: of each request, for how many there was no time
        self.late: list[int] = []

    async def answer(self, request: web.Request) -> web.Response:
        if request.method == "GET":
            return web.json_response(self._page(dict(request.query)))
        assert request.path == "/api/jobs/cancel"
        self.keys.append(request.headers["Idempotency-Key"])
        self.cancels.append(await request.json())
        states = ("cancelled" if number % 2 else "queued" for number in range(len(self.jobs)))
        fitting = self._fitting(self.cancels[-1]["conditions"])
        ended = [
            {"id": one["id"], "name": one["name"], "state": state}
            for one, state in zip(fitting, states, strict=False)
        ]
        late = self.late.pop(0) if self.late else 0
        why = "there was no time left for it"
        rest = [{"id": one["id"], "name": one["name"], "why": why, "again": True} for one in fitting[:late]]
        return web.json_response({"jobs": ended[late:], "refused": [*self.refused, *rest]})

    def _page(self, query: dict[str, str]) -> dict[str, Any]:
        self.lists.append({name: text for name, text in query.items() if name != "after"})
        first, most = int(query.get("after", 0)), int(query["limit"])
        fitting = self._fitting(query)
        more = str(first + most) if len(fitting) > first + most else None
        return {"jobs": fitting[first : first + most], "next": more}

    def _fitting(self, conditions: Mapping[str, str]) -> list[dict[str, Any]]:
        every = [one for one in self.jobs if not (self.cancels and one["id"] in self.end_by_itself)]
        every += self.more if self.cancels else []
        if "until" not in conditions or "T" not in conditions["until"]:
            return every
        since, until = (datetime.fromisoformat(conditions[name]) for name in ("since", "until"))
        return [one for one in every if since <= datetime.fromisoformat(one["createdAt"]) < until]


async def cancel(service: Service, *words: str) -> Result:
    async with answering(as_slipway(service.answer)) as url:
        return await asyncio.to_thread(CliRunner().invoke, app, ["cancel", "--url", url, *words])


async def test_every_condition_is_sent_with_the_number_that_fits() -> None:
    conditions = {
        **{"state": "queued", "name": "train-*", "experiment": "e", "label": "a=b", "cluster": "dev"},
        **{"source": "http", "owner": "ann", "team": "vision", "contains": "oom", "since": "2h"},
        **{"until": "1h", "sweep": f"s_{'a' * 24}"},
    }
    service = Service(2)
    words = [word for name, text in conditions.items() for word in (f"--{name}", text)]

    result = await cancel(service, *words, "--yes")

    assert result.exit_code == 0, result.output
    narrowed = {"since": "2026-01-01T00:00:00+00:00", "until": "2026-01-01T00:00:00.000001+00:00"}
    assert service.cancels == [{"conditions": {**conditions, **narrowed}, "expected": 2}]
    assert service.lists == [{**conditions, "limit": "200"}]
    assert result.stdout == "j_0  n0: queued, and asked to end\nj_1  n1: cancelled\n"


async def test_without_a_state_it_is_about_jobs_that_have_not_ended_and_that_were_listed() -> None:
    service = Service(2)
    service.jobs[0]["createdAt"] = "2026-01-01T00:00:09Z"

    assert (await cancel(service, "--owner", "ann", "--yes")).exit_code == 0

    listed = {"since": "2026-01-01T00:00:00+00:00", "until": "2026-01-01T00:00:09.000001+00:00"}
    conditions = {"state": "active", "owner": "ann", **listed}
    assert service.cancels == [{"conditions": conditions, "expected": 2}]


async def test_nothing_is_sent_where_no_person_agrees() -> None:
    service = Service(12)

    result = await cancel(service, "--owner", "ann")

    assert result.exit_code == 1
    assert service.cancels == []
    assert "12 jobs would be cancelled, and none was; add --yes" in str(result.exception)
    assert result.stderr.splitlines()[-2:] == ["j_9  n9: queued", "… and 2 more"]


async def test_nothing_is_sent_where_no_job_fits() -> None:
    service = Service(0)
    assert "no job that fits" in (await cancel(service, "--owner", "ann")).stdout
    result = await cancel(service, "--owner", "ann", "--json")
    assert json.loads(result.stdout) == {"jobs": [], "refused": []}
    assert service.cancels == []


async def test_more_than_one_request_takes_are_cancelled_by_several_the_newest_first() -> None:
    service = Service(0)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    service.jobs = [job(number) for number in range(1203)]
    for number, one in enumerate(service.jobs):
        one["createdAt"] = (start - timedelta(seconds=number)).isoformat()
    ended_itself = service.jobs[700]["id"]
    service.end_by_itself = {ended_itself}

    result = await cancel(service, "--state", "active", "--yes")

    assert result.exit_code == 0, result.output
    assert [one["expected"] for one in service.cancels] == [500, 499, 203]
    assert ended_itself not in result.stdout
    assert [line for line in result.stderr.splitlines() if "left" in line] == [
        "703 jobs left",
        "203 jobs left",
    ]


async def test_the_ends_of_others_are_not_asked_for() -> None:
    service = Service(501)
    service.more = [job(9999)]

    result = await cancel(service, "--state", "queued", "--yes")

    assert "other jobs fit now" in str(result.exception)
    assert len(service.cancels) == 1


async def test_what_had_no_time_is_asked_for_again_by_the_same_request_while_fewer_are_left() -> None:
    service = Service(9)
    service.late = [4, 2, 2]

    result = await cancel(service, "--state", "active", "--yes")

    assert result.exit_code == 1
    assert service.cancels[1:] == service.cancels[:1] * 2
    assert len(set(service.keys)) == 1
    assert [line for line in result.stderr.splitlines() if "left" in line] == ["4 jobs left", "2 jobs left"]
    assert result.stdout.count("not cancelled: there was no time left") == 2


async def test_too_many_are_refused_before_anything_is_sent() -> None:
    service = Service(10_700)
    result = await cancel(service, "--state", "active", "--yes")
    assert "more than 10,000 jobs fit" in str(result.exception)
    assert service.cancels == []


async def test_what_could_not_be_cancelled_is_named_and_the_exit_code_says_so() -> None:
    service = Service(1, [{"id": "j_9", "name": "other", "why": "this needs the role Jobs.Admin"}])
    result = await cancel(service, "--team", "vision", "--yes")
    assert result.exit_code == 1
    assert "j_9  other: not cancelled: this needs the role Jobs.Admin" in result.stdout


@pytest.mark.parametrize("words", [(), ("--yes",), ("last", "--owner", "ann")], ids=str)
async def test_a_job_or_conditions_are_named_and_not_both(words: tuple[str, ...]) -> None:
    service = Service(3)
    result = await cancel(service, *words)
    assert "name either a job or conditions" in str(result.exception)
    assert service.lists == service.cancels == []
