"""docs/how-to/run-a-sweep.md: its commands and its message, on the local stack."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from shared.jobspec import read_envelope
from tests.acceptance.door import Door, shell
from tests.acceptance.pages.page import blocks, play

PAGE = "how-to/run-a-sweep.md"
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _jobs(door: Door, sweep: str) -> list[dict[str, Any]]:
    _, body, _ = await door.call("GET", f"jobs?sweep={sweep}&limit=200")
    jobs: list[dict[str, Any]] = body["jobs"]
    return jobs


async def test_the_page_does_what_it_says(door: Door, tmp_path: Path) -> None:
    begin, commands = blocks(PAGE, "sh")
    output = await play(door, tmp_path, begin)
    (sweep,) = set(re.findall(r"s_[a-z2-7]{24}", output))
    jobs = await _jobs(door, sweep)
    assert sorted(job["name"] for job in jobs) == [f"sweep-{n}" for n in range(6)]
    for job in jobs:
        ended = await door.ended(id=job["id"])
        assert ended["state"] == "succeeded"

    output = await play(door, tmp_path, commands.replace("s_…", sweep))

    assert f"{sweep}  sweep: " in output
    rows = [line.split() for line in output.splitlines()]
    best = rows[rows.index(["loss", "job", "state", "lr", "epochs"]) + 1]
    assert best[2:] == ["succeeded", "0.3", "10"]


async def test_its_message_is_an_envelope_without_problems() -> None:
    message, event = blocks(PAGE, "json")

    assert read_envelope(json.loads(message)).problems == ()
    assert json.loads(event)["type"] == "io.slipway.sweep.ended.v1"


async def test_a_sweep_reports_its_end_and_the_same_key_joins_it(door: Door) -> None:
    spec = shell("echo {word} $SLIPWAY_SWEEP_WORD")
    message: dict[str, Any] = {
        "spec": spec,
        "name": "words",
        "sweep": {"word": ["one", "two"]},
        "parallel": 1,
    }
    message |= {"notify": [door.hook("words")]}
    status, sweep, _ = await door.call("POST", "sweeps", message, Idempotency_Key="words-1")
    assert (status, sweep["total"], sweep["parallel"]) == (202, 2, 1)
    status, again, _ = await door.call("POST", "sweeps", message, Idempotency_Key="words-1")
    assert (status, again["sweepId"]) == (200, sweep["sweepId"])
    status, refusal, _ = await door.call("POST", "jobs", message)
    assert status == 400
    assert "POST /api/sweeps" in refusal["remedy"]

    for job in await _jobs(door, sweep["sweepId"]):
        await door.ended(id=job["id"])
        _, log, _ = await door.call("GET", f"jobs/{job['id']}/log")
        word = job["sweep"]["values"]["word"]
        assert log["text"] == f"{word} {word}\n"
    (event,) = await door.event("words", "io.slipway.sweep.ended.v1")
    assert event["subject"] == f"sweeps/{sweep['sweepId']}"
