"""What an operator does: pause submissions, see that, resume them."""

from __future__ import annotations

import asyncio
import json

import pytest

from slipway.commands.audit.audit import run as audit
from slipway.commands.pause.pause import pause, resume
from tests.acceptance.door import Door, eventually, shell, unique

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_paused_deployment_accepts_and_submits_after_resume(
    door: Door, capsys: pytest.CaptureFixture[str]
) -> None:
    name = unique("paused")
    url = door.stack.host_url
    try:
        assert await asyncio.to_thread(pause, url, door.key, "the cluster moves") == 0
        assert "paused by" in capsys.readouterr().out
        status, job, _ = await door.call("POST", "jobs", {"name": name, "spec": shell("true")})
        assert (status, job["state"]) == (202, "accepted")
        assert "the cluster moves" in job["message"]

        async def observation() -> bool | None:
            status, body, _ = await door.call("GET", "health", x_functions_key="")
            words = {"status", "storage", "engine", "paused", "sweep", "settings"}
            assert (status, set(body)) == (200, words | {"unreadable", "parked", "off"})
            return body["paused"] or None

        await eventually(observation, "the pause in the health")
    finally:
        assert await asyncio.to_thread(resume, url, door.key) == 0

    assert (await door.ended(name=name))["state"] == "succeeded"


async def test_after_a_day_of_work_nothing_differs(door: Door, capsys: pytest.CaptureFixture[str]) -> None:
    name = unique("audited")
    await door.drop(f"{name}/job.json", shell("true"))
    await door.ended(experiment=name)

    code = await asyncio.to_thread(audit, door.stack.host_url, door.key, as_json=True)

    captured = json.loads(capsys.readouterr().out)
    # Other tests of this stack have receivers that want no events.
    assert [one for one in captured["differences"] if one["kind"] != "delivery"] == []
    assert captured["unknown"] == []
    assert captured["counted"]["drops"] > 0
    assert code == (1 if captured["differences"] else 0)
