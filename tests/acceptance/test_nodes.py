"""`slipway nodes` and GET /api/clusters, on the emulator while a job runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.acceptance.door import Door, eventually, shell

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_nodes_are_shown_while_a_job_runs_on_one(door: Door) -> None:
    _, job, _ = await door.call("POST", "jobs", shell("sleep 600"))

    async def runs() -> bool | None:
        _, observation, _ = await door.call("GET", f"jobs/{job['id']}")
        return True if observation["state"] == "running" else None

    try:
        await eventually(runs, "the job to run")

        _, body, _ = await door.call("GET", "clusters")
        code, output = await _nodes(door)
    finally:
        await door.call("POST", f"jobs/{job['id']}/cancel")

    (cluster,) = body["clusters"]
    assert cluster["counts"]["running"] == 1
    assert cluster["members"] == []
    assert cluster["capabilities"]["elastic"] == {"answer": "yes", "note": "the cluster's scale settings"}
    assert code == 0
    assert output.splitlines()[1].startswith("dev-cluster-00  batchai")
    assert "1 running" in output


async def _nodes(door: Door) -> tuple[int | None, str]:
    command = await asyncio.create_subprocess_exec(
        *(*door.slipway, "nodes", "--url", door.stack.host_url, "--key", door.key),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await command.communicate()
    return command.returncode, output.decode()
