"""Every dialect that a real slurmrestd serves, one at a time: what the engine says in each is understood."""

from __future__ import annotations

import pytest

from local.slurm import Slurm, find_programs, missing_programs
from shared.core.job import JobState, Reason
from shared.engines.slurm.wire.dialect import DIALECTS, Dialect
from tests.contract.slurm.on_slurm import NAME, ended, engine, order, text, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

#: Of the dialects that are spoken here, those of each Slurm that the tests run on.
SERVED = {22: {"38"}, 24: {"40", "41", "42"}, 26: {"42", "43", "44", "45"}}


def served() -> list[Dialect]:
    """The dialects of the Slurm under test; any where there is none, and all is skipped."""
    if missing_programs():
        return [DIALECTS[0]]
    numbers = SERVED[find_programs().version()[0]]
    return [dialect for dialect in DIALECTS if dialect.version.rpartition(".")[2] in numbers]


EACH = pytest.mark.parametrize("dialect", served(), ids=lambda dialect: str(dialect.version))


@EACH
async def test_a_job_runs_with_all_that_it_asked_for(cluster: Slurm, dialect: Dialect) -> None:
    output = (
        'echo "$CUDA_VISIBLE_DEVICES" $AZ_BATCHAI_NUM_GPUS $WORD; scontrol --oneliner show job $SLURM_JOB_ID'
    )
    async with engine(cluster, dialects=[dialect], gpus=1, preemptible=True) as slurm:
        job_order = order(f"{output}; exit 3", environmentVariables=[{"name": "WORD", "value": "a b=c"}])
        await slurm.submit(job_order)
        observation = await ended(slurm, job_order.target)
        shown = (await text(slurm, job_order.target, "stdout.txt")).splitlines()

    assert (observation.state, observation.reason, observation.exit_code) == (JobState.FAILED, Reason.USER, 3)
    assert shown[0] == "0 1 a b=c"
    for words in ("Requeue=1", "NumNodes=1", "OverSubscribe=NO", "TimeLimit=7-00:02:00"):
        assert words in shown[1]


@EACH
async def test_a_job_is_watched_and_cancelled(cluster: Slurm, dialect: Dialect) -> None:
    """The exit code and the end are Slurm's own words: no record of the run can be seen."""
    async with engine(cluster, dialects=[dialect], reads={}) as slurm:
        job_order, other = order("sleep 600"), order("exit 4")
        await slurm.submit(job_order)
        await slurm.submit(other)
        await until(
            slurm,
            job_order.target,
            lambda observation: observation is not None and observation.state is JobState.RUNNING,
        )
        failed = await ended(slurm, other.target)
        await slurm.cancel(job_order.target)
        cancelled = await ended(slurm, job_order.target)
        view = await slurm.nodes(NAME)

    assert (failed.state, failed.exit_code) == (JobState.FAILED, 4)
    assert cancelled.state is JobState.CANCELLED
    assert view.maximum == 4
