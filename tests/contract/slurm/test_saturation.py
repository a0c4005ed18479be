"""The engine on a real Slurm that has as many jobs as it may have (MaxJobCount)."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from local.patience import Patience
from local.slurm import Options, Partition, slurm
from shared.core.job import JobState
from shared.lifecycle.sweeper import make_pass
from tests.contract.slurm.on_slurm import NAME, PATIENCE, engine
from tests.contract.slurm.test_faults import Engines
from tests.unit.world import CLUSTER, World, job_json

pytestmark = pytest.mark.asyncio(loop_scope="session")

_ID = CLUSTER.id.replace("/dev", f"/{NAME}")
_JOBS = 10


async def test_ten_jobs_on_a_controller_that_takes_three_all_run_once(tmp_path: Path) -> None:
    """What is not taken waits and says why; the cluster is not left alone for it."""
    small = Options(
        data=tmp_path, partitions=(Partition(name="warm", nodes=2, elastic=False),), max_jobs=3, job_age=2
    )
    async with slurm(small) as running, engine(running) as slurm_engine:
        world, ahead = World(), timedelta()
        world.use(engines=Engines(slurm_engine), clock=lambda: datetime.now(UTC) + ahead)
        defaults = replace(world.ports.policy.completion, cluster_id=_ID, clusters={NAME: _ID})
        world.policy(completion=defaults, dispatch_deadline=60.0)
        runs = running.shared / "runs"
        runs.mkdir()
        document = job_json(customToolkitSettings={"commandLine": f"echo x >> {runs}/$SLIPWAY_JOB_ID"})

        accepted = [await world.message({"spec": document}, f"m{n}") for n in range(_JOBS)]

        waiting = [one.job for one in accepted if one.job.state is JobState.SUBMITTING]
        assert len(waiting) >= _JOBS - 3
        for job in waiting:
            assert job.waiting is not None
            assert (job.waiting.word, "MaxJobCount" in job.waiting.text) == ("Saturated", True)
        assert not world.ports.breaker.open(f"slurm/{NAME}", world.ports.clock())

        patience = Patience(PATIENCE)
        while active := (await make_pass(world.ports)).active:
            assert not patience.is_over(active)
            await asyncio.sleep(0.5)
            ahead += timedelta(seconds=60)  # what waits for capacity is tried again after minutes

        jobs = [await world.job(one.job.id) for one in accepted]
        assert Counter((job.state, job.attempt) for job in jobs) == {(JobState.SUCCEEDED, 1): _JOBS}
        assert {path.name: path.read_text() for path in runs.iterdir()} == {job.id: "x\n" for job in jobs}
