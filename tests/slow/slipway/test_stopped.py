"""`slipway run` on a laptop that sleeps in the middle, for longer than its upload address lives: one job."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.unit.slipway.client.snapshot.deployment import Deployment

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="states of processes: Linux")
ROOT = Path(__file__).resolve().parents[3]
COMMAND = (sys.executable, "-c", "from slipway.main import main; main()", "run", "--detach")


def _stop(pid: int) -> None:
    """Stop a process, and wait until it is."""
    os.kill(pid, signal.SIGSTOP)
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.01)


class Sleepy(Deployment):
    """Its client is stopped before it reads the answer to a call, while days pass here."""

    def __init__(self, stops_at: str, *, is_lost: bool) -> None:
        super().__init__()
        self._stops_at, self._is_lost = stops_at, is_lost
        self._addresses, self._oldest = 0, 1
        self.client = asyncio.get_running_loop().create_future()

    async def _answer(self, request: web.Request) -> web.Response:
        if request.method == "PUT" and request.path.startswith("/api/"):
            self.blobs[request.path.rpartition("/")[2]] = await request.read()
            return web.json_response({"known": True}, status=201)
        if request.method == "PUT" and int(request.query["sig"]) < self._oldest:
            return web.Response(status=403, headers={"x-ms-error-code": "AuthenticationFailed"})
        response = await super()._answer(request)
        if self.calls.count(self._stops_at) == 1 == (self.calls[-1] == self._stops_at):
            pid = await self.client
            await asyncio.to_thread(_stop, pid)
            self._days_pass()
            asyncio.get_running_loop().call_soon(os.kill, pid, signal.SIGCONT)
            if self._is_lost and request.transport is not None:
                request.transport.close()
        return response

    def _offer(self, body: Any, origin: str) -> web.Response:
        if body["sha256"] in self.blobs:
            return web.json_response({"known": True})
        self._addresses += 1
        address = f"{origin}/snapshots/{body['sha256']}?sig={self._addresses}"
        return web.json_response({"known": False, "upload": address})

    def _days_pass(self) -> None:
        """Each address has expired, and code that no job was accepted with has been collected."""
        self._oldest = self._addresses + 1
        if not self.messages:
            self.blobs.clear()


@pytest.mark.parametrize("is_lost", [False, True], ids=["answered", "answer lost"])
@pytest.mark.parametrize("call", ["GET /api/settings", "POST /api/snapshots", "PUT ", "POST /api/jobs"])
async def test_a_client_that_is_stopped_at_any_call_makes_one_job_of_its_folder(
    call: str, is_lost: bool, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text("print(1)\n")
    deployment = Sleepy(call, is_lost=is_lost)

    async with deployment.serving() as url:
        process = await asyncio.create_subprocess_exec(
            *(*COMMAND, "--url", url, str(tmp_path)),
            cwd=ROOT,
            env={**os.environ, "SLIPWAY_KEY": "", "XDG_CONFIG_HOME": str(tmp_path / "home")},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        deployment.client.set_result(process.pid)
        output, _ = await process.communicate()

    assert process.returncode == 0, output.decode()
    assert deployment.calls.count(call) >= 1
    assert deployment.message["code"]["sha256"] in deployment.blobs
