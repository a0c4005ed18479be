"""The numbers of a job over HTTP: what a query may ask, and where an answer goes on."""

from __future__ import annotations

import json
from typing import Any

import azure.functions as func
import pytest

from functions import caller, output
from shared.core.job import JobState
from tests.unit.world import World, job_json


async def test_an_answer_goes_on_at_next_and_takes_no_other_parameter(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "ports", lambda: world.ports)
    monkeypatch.setattr(caller, "ports", lambda: world.ports)
    job = (await world.message(job_json())).job
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()

    async def get(**query: str) -> tuple[int, dict[str, Any]]:
        request = func.HttpRequest(
            method="GET",
            url=f"/api/jobs/{job.id}/metrics",
            params=query,
            route_params={"id": job.id},
            body=b"",
        )
        answer = await output.get_metrics._function.get_user_function()(request)
        return answer.status_code, json.loads(answer.get_body())

    world.engine.output["stdout.txt"] = b'{"slipway": {"epoch": 1, "loss": 0.5}}\n'
    status, first = await get()
    world.engine.output["stdout.txt"] += b'{"slipway": {"epoch": 2, "loss": 0.25}}\n'
    _, second = await get(after=first["next"], points="4")

    assert status == 200
    assert first["series"] == [
        {"name": "loss", "file": "stdouterr/stdout.txt", "axis": "epoch", "count": 1, "points": [[1, 0.5]]}
    ]
    assert second["series"][0]["points"] == [[2, 0.25]]
    assert (await get(after="nonsense"))[0] == 400
    assert (await get(points="1"))[0] == 400
    assert "after, points" in (await get(limit="1"))[1]["remedy"]
