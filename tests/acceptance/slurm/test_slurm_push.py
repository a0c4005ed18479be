"""The record that the program on the nodes writes ends a job of Slurm without a pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from local.azurite import ACCOUNT
from local.clusters.kind import SCRIPTS
from local.slurm import missing_programs
from local.stack import Options, stack
from tests.acceptance.conftest import provisioned
from tests.acceptance.door import Door, eventually, shell, unique

NEVER = "0 0 0 1 1 *"


async def test_the_programs_own_record_ends_a_job_of_slurm(tmp_path: Path) -> None:
    if lacking := missing_programs():
        pytest.skip(f"Slurm is not installed ({', '.join(lacking)} not found): run `make install-slurm`")
    overrides = {
        "SLIPWAY_SWEEPER_SCHEDULE": NEVER,
        "SLIPWAY_INVENTORY_SECONDS": "0",
    }
    options = Options(data=tmp_path / "stack", in_memory=True, overrides=overrides, cluster="slurm", nodes=1)
    async with stack(options, provisioned) as running, Door(running, "") as door:
        name, go = unique("record"), tmp_path / "go"
        (cluster,) = json.loads(running.settings["SLIPWAY_CLUSTERS"]).values()
        drops = f"{cluster['mounts'][f'{ACCOUNT}/{SCRIPTS}']}/of-others"
        forged = f"mkdir {drops} && echo '{json.dumps(shell('true'))}' >{drops}/job.json || exit 9"
        spec = shell(f"{forged}; until [ -e {go} ]; do sleep 0.1; done; exit 7")
        await door.call("POST", "jobs", {"name": name, "spec": spec, "notify": [door.hook(name)]})

        async def passes_until_it_runs() -> dict[str, Any] | None:
            """A pass releases it, and another one sees it run."""
            async with door.http.post("/admin/functions/sweeper", json={"input": ""}) as answer:
                assert answer.status == 202
            return next(iter(await door.jobs(name=name, state="running")), None)

        await eventually(passes_until_it_runs, "the job to run")
        go.touch()

        job = await door.ended(name=name)
        assert (job["state"], job["exitCode"]) == ("failed", 7)
        assert (await door.event(name, "io.slipway.job.failed.v1"))[0]["verified"]
        assert len(await door.jobs()) == 1, (
            "no drop is seen in a record, nor in what a job writes beside drops"
        )
