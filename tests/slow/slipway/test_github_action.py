"""The GitHub Action's program, ended while the answer to its submission is on the way."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from tests.doubles.server import answering
from tests.unit.functions.calls import use
from tests.unit.slipway.client.request.test_cost import Closed
from tests.unit.slipway.lossy import Network
from tests.unit.world import World, job_json


class Late(Network):
    """Keeps the answer to the first submission until another request arrives."""

    def __init__(self) -> None:
        super().__init__("")
        self.submitted, self._next = asyncio.Event(), asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        is_first = request.method == "POST" and not self.submitted.is_set()
        is_first = is_first and request.path in ("/api/jobs", "/api/sweeps")
        if self.submitted.is_set():
            self._next.set()
        answer = await super().answer(request)
        if is_first:
            self.submitted.set()
            await self._next.wait()
        return answer


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    use(it := World(), monkeypatch)
    (tmp_path / "code").mkdir()
    job = job_json(customToolkitSettings={"commandLine": "python train.py {lr}"})
    (tmp_path / "code/job.json").write_text(json.dumps(job))
    (tmp_path / "code/train.py").write_text("print(1)")

    async def closed(_: web.Request) -> web.Response:
        return web.Response(status=403)

    it.use(snapshots=(snapshots := Closed(it.clock)))
    async with answering(closed) as snapshots.place:
        yield it


@pytest.mark.parametrize("by", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    ("envelope", "options", "jobs"),
    [
        ({}, "", 1),
        ({}, "--idempotency-key=mine", 1),
        ({"idempotencyKey": "of-the-folder"}, "", 1),
        ({}, "--sweep=lr=1,2", 2),
    ],
)
async def test_a_job_is_cancelled_whose_answer_had_not_come(
    envelope: dict[str, str], options: str, jobs: int, by: signal.Signals, world: World, tmp_path: Path
) -> None:
    (tmp_path / "code/slipway.json").write_text(json.dumps(envelope))
    variables = {"INPUT_PATH": "code", "INPUT_TO": str(tmp_path / "out"), "INPUT_OPTIONS": options}
    variables |= {
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_OUTPUT": str(tmp_path / "outputs"),
    }
    network = Late()
    async with answering(network.answer) as url:
        environment = {**os.environ, "HOME": str(tmp_path), "SLIPWAY_URL": url, "SLIPWAY_KEY": "key"}
        step = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "slipway.github_action"),
            cwd=tmp_path,
            env=environment | variables,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        await network.submitted.wait()
        step.send_signal(by)
        log = (await step.communicate())[0].decode()

    assert step.returncode == 128 + by, log
    assert "the workflow was cancelled, and its job with it" in (tmp_path / "summary").read_text(), log
    assert len(world.ledger.jobs) == jobs, log
    assert all(job.cancel or job.state.value == "cancelled" for job in world.ledger.jobs), log
