"""The order in which a run says what happens."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from slipway.client.calls.answers import LogChunk
from slipway.client.service import Service
from slipway.commands.run.follow import follow, report_failure
from slipway.commands.run.report import Report

_LINES = {"stdout.txt": b"out\n", "stderr.txt": b"1/2\r2/2\nlast\n"}


class SlowLogs(Service):
    """An API of a job that has ended, whose log takes longer to read than its record."""

    def __init__(self, state: str) -> None:
        self._state = state

    async def job(self, job_id: str) -> Any:
        history = [
            {"sequence": n, "state": one, "at": ""} for n, one in enumerate(("queued", self._state), 1)
        ]
        names = {"id": job_id, "name": "j", "door": "api", "engine": {}, "attempt": 1}
        return {**names, "state": self._state, "history": history}

    async def files(self, job_id: str, directory: str, path: str = ".") -> list[dict[str, Any]]:
        return [{"name": name, "bytes": len(data)} for name, data in _LINES.items()]

    async def outputs(self, job_id: str) -> list[str]:
        return []

    async def log(self, job_id: str, offset: int = 0, file: str = "") -> LogChunk:
        await asyncio.sleep(0.1)
        data = _LINES[file][offset:]
        return LogChunk(data, offset + len(data), more=bool(data), file=file)


@pytest.mark.parametrize("state", ["succeeded", "failed", "cancelled", "lost"])
async def test_the_end_of_a_job_is_said_after_its_last_lines(
    state: str, capsys: pytest.CaptureFixture[str]
) -> None:
    api: Service = SlowLogs(state)
    job = await follow(api, "j_1", Report())
    if state != "succeeded":
        await report_failure(api, job, Report())
    out, err = capsys.readouterr()
    assert out == "out\n"
    begun, _, end = err.partition("2/2\nlast\n")
    assert begun == "slipway: queued\n"
    assert end.startswith(f"slipway: {state}")
