"""`slipway up --settings FILE`: a real Slurm that is not of the stack, driven by its token."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from pathlib import Path

import pytest

from local.slurm import Options, Partition, missing_programs, slurm
from tests.acceptance.conftest import Slipway
from tests.acceptance.test_up import PATIENCE, up


async def test_a_slurm_of_ones_own_runs_jobs_by_its_token(slipway: Slipway, tmp_path: Path) -> None:
    if lacking := missing_programs():
        pytest.skip(f"Slurm is not installed ({', '.join(lacking)} not found): run `make install-slurm`")
    node = Partition(name="warm", nodes=1, elastic=False)
    async with slurm(Options(data=tmp_path / "slurm", partitions=(node,))) as cluster:
        token, shared = cluster.token(), str(cluster.shared)
        options = {
            "engine": "slurm",
            "url": cluster.url, "user": cluster.user, "shared": shared, "mountRoot": f"{shared}/mounts",
            "temporary": f"{shared}/nodes", "path": cluster.job_path, "reads": {shared: shared},
        }  # fmt: skip
        settings = {"SLIPWAY_CLUSTERS": {"gpu": options}, "SLIPWAY_SLURM_KEYS": {"gpu": token}}
        file = tmp_path / "gpu.json"
        file.write_text(json.dumps(settings), encoding="utf-8")

        block = {"customToolkitSettings": {"commandLine": "hostname"}}
        request = tmp_path / "job.json"
        request.write_text(json.dumps({"properties": {"nodeCount": 1, **block}}), encoding="utf-8")

        async with up(tmp_path / "up", f"--settings={file}") as running:
            url = f"--url={running.url}"
            nodes = await slipway("nodes", url)
            job = re.match(r"j_\w+", await slipway("submit", str(request), url))
            assert job is not None
            table = ""
            async with asyncio.timeout(PATIENCE):
                while "succeeded" not in table:
                    table = await slipway("jobs", url)
                    await asyncio.sleep(1)
            whole = await slipway("show", job[0], url)
            assert await running.stop(signal.SIGINT) == 0

    assert "clusters      gpu" in running.printed
    assert "Batch AI" not in running.printed
    assert "examples/" not in running.printed, "they need what the stack's own clusters have"
    assert token not in running.printed
    assert "warm-1" in nodes
    assert "slurm" in whole
