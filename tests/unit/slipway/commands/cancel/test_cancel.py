"""`slipway cancel` with conditions: what a person is asked, what is sent, and what is shown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
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

    async def answer(self, request: web.Request) -> web.Response:
        if request.method == "GET":
            self.lists.append(dict(request.query))
            most = int(request.query["limit"])
            more = "more" if len(self.jobs) > most else None
            return web.json_response({"jobs": self.jobs[:most], "next": more})
        assert request.path == "/api/jobs/cancel"
        assert request.headers["Idempotency-Key"]
        self.cancels.append(await request.json())
        states = ("cancelled" if number % 2 else "queued" for number in range(len(self.jobs)))
        ended = [
            {"id": one["id"], "name": one["name"], "state": state}
            for one, state in zip(self.jobs, states, strict=False)
        ]
        return web.json_response({"jobs": ended, "refused": self.refused})


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
    assert service.cancels == [{"conditions": conditions, "expected": 2}]
    assert service.lists == [{**conditions, "limit": "200"}]
    assert result.stdout == "j_0  n0: queued, and asked to end\nj_1  n1: cancelled\n"


async def test_without_a_state_it_is_about_jobs_that_have_not_ended_and_that_were_listed() -> None:
    service = Service(2)
    service.jobs[0]["createdAt"] = "2026-01-01T00:00:09Z"

    assert (await cancel(service, "--owner", "ann", "--yes")).exit_code == 0

    conditions = {"state": "active", "owner": "ann", "until": "2026-01-01T00:00:09.000001+00:00"}
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


async def test_too_many_are_refused_before_anything_is_sent() -> None:
    service = Service(700)
    result = await cancel(service, "--state", "active", "--yes")
    assert "more than 500 jobs fit" in str(result.exception)
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
