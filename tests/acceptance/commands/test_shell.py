"""`slipway shell` at the front door: where the job is, who may know that, and what stays of it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.commands.person import slipway
from tests.acceptance.door import Door, eventually, shell, unique

pytestmark = pytest.mark.asyncio(loop_scope="session")

CANARY = "canary-of-a-secret"


async def test_a_running_job_says_where_it_is_until_it_has_ended(door: Door, tmp_path: Path) -> None:
    name, go = unique("enter"), tmp_path / "go"
    secrets = [{"name": "HF_TOKEN", "value": CANARY}]
    spec = shell(f"until [ -e {go} ]; do sleep 0.1; done", secrets=secrets)
    await door.call("POST", "jobs", {"name": name, "spec": spec})

    async def is_running() -> dict[str, Any] | None:
        return next(iter(await door.jobs(name=name, state="running")), None)

    job = await eventually(is_running, "the job to run")
    path = f"jobs/{job['id']}/entry"
    status, place, _ = await door.call("POST", path, {"rank": 0}, Content_Type="application/json")
    wrong, _, _ = await door.call("POST", path, {"rank": 1}, Content_Type="application/json")
    code, printed, remarks = await slipway(door, tmp_path, "shell", name, "--print", "--", "echo", "$HOME")

    assert (status, wrong) == (200, 400)
    assert place["ssh"].keys() == {"host", "port", "user"}
    assert CANARY not in str(place)
    assert (code, remarks) == (0, "")
    words = shlex.split(printed)
    assert (words[0], words[-2]) == ("ssh", place["ssh"]["host"])
    assert shlex.split(words[-1])[-2:] == ["echo", "$HOME"]
    assert CANARY not in printed
    go.touch()
    ended = await door.ended(name=name)
    file = ended["receipt"].removeprefix("runs/")
    receipt = await eventually(lambda: door.receipt_file(file), "the receipt")
    assert ended["entered"] == ["the holder of a function key"]
    assert [one["note"] for one in ended["history"] if "note" in one and "entered" in one["note"]] == [
        "entered by the holder of a function key"
    ]
    assert b'"entered"' in receipt

    code, printed, remarks = await slipway(door, tmp_path, "shell", name)

    assert (code, printed) == (255, "")
    assert "is succeeded: no process of it runs" in remarks
