"""What an operator does: pause submissions, see that, resume them."""

from __future__ import annotations

import asyncio
import json

import pytest
from typer.testing import CliRunner, Result

from slipway.main import app
from tests.acceptance.door import Door, eventually, shell, unique

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def slipway(door: Door, *words: str) -> Result:
    options = ["--url", door.stack.host_url, "--key", door.key]
    return await asyncio.to_thread(CliRunner().invoke, app, [*words, *options])


async def test_a_paused_deployment_accepts_and_submits_after_resume(door: Door) -> None:
    name = unique("paused")
    try:
        paused = await slipway(door, "pause", "--all", "--reason", "the cluster moves")
        assert (paused.exit_code, "paused by" in paused.output) == (0, True)
        status, job, _ = await door.call("POST", "jobs", {"name": name, "spec": shell("true")})
        assert (status, job["state"]) == (202, "accepted")
        assert "the cluster moves" in job["message"]

        async def observation() -> bool | None:
            status, body, _ = await door.call("GET", "health", x_functions_key="")
            words = {"status", "storage", "clusters", "paused", "sweeper", "settings"}
            assert (status, set(body)) == (200, words | {"unreadable", "parked", "off"})
            return body["paused"] or None

        await eventually(observation, "the pause in the health")
    finally:
        assert (await slipway(door, "resume", "--all")).exit_code == 0

    assert (await door.ended(name=name))["state"] == "succeeded"


async def test_after_a_day_of_work_nothing_differs(door: Door) -> None:
    name = unique("audited")
    await door.drop(f"{name}/job.json", shell("true"))
    await door.ended(experiment=name)

    ran = await slipway(door, "audit", "--json")

    captured = json.loads(ran.stdout)
    # Other tests of this stack have receivers that want no events.
    assert [one for one in captured["differences"] if one["kind"] != "delivery"] == []
    assert captured["unknown"] == []
    assert captured["counted"]["drops"] > 0
    assert ran.exit_code == (1 if captured["differences"] else 0)
