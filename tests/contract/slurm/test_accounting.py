"""How forgotten jobs ended, by a real slurmdbd with a MariaDB of its own."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from local.slurm import Options, Partition, find_programs, slurm
from local.slurm.accounting import PACKAGES, PROGRAMS
from shared.core.errors import NotFound
from shared.core.job import JobState, Reason
from tests.contract.slurm.on_slurm import PATIENCE, ended, engine, order
from tests.contract.slurm.test_faults import _forget_everything

#: What accounting knows of the jobs.
_SACCT = ("sacct", "--noheader", "--parsable2", "--allocations", "--format=jobname,state")
_LACKING = [name for name in PROGRAMS if not shutil.which(name, path=find_programs().path)]
pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(bool(_LACKING), reason=f"apt-get install {' '.join(PACKAGES)}: {_LACKING} not found"),
    pytest.mark.skipif(
        find_programs().root is not None, reason="slurmdbd is tried on this system's Slurm only"
    ),
]


async def test_slurmdbd_tells_how_a_job_ended_that_slurmctld_has_forgotten(tmp_path: Path) -> None:
    partitions = (Partition(name="warm", nodes=2, elastic=False),)
    async with (
        slurm(Options(data=tmp_path, partitions=partitions, accounting=True)) as own,
        engine(own, reads={}, accounting=True) as slurm_engine,
    ):
        failed, fine = order("exit 5"), order("true")
        for request, word in ((failed, "FAILED"), (fine, "COMPLETED")):
            await slurm_engine.submit(request)
            await ended(slurm_engine, request.target)
            async with asyncio.timeout(PATIENCE):
                while f"{request.target.name}|{word}" not in await own.command(*_SACCT):  # noqa: ASYNC110
                    await asyncio.sleep(0.2)
        await _forget_everything(own)

        lost, won = await slurm_engine.see(failed.target), await slurm_engine.see(fine.target)
        with pytest.raises(NotFound):
            await slurm_engine.see(order("true").target)
    assert (lost.state, lost.reason) == (JobState.FAILED, Reason.USER)
    assert won.state is JobState.SUCCEEDED
