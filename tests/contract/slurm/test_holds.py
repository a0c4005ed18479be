"""A failed job keeps its node on a real Slurm: a person enters it, gives it back, and it has its own end."""

from __future__ import annotations

import asyncio
import os
import subprocess
from dataclasses import replace
from datetime import timedelta

import pytest

from local.patience import Patience
from local.slurm import Slurm
from shared.core.engine import Order
from shared.core.job import JobState, Reason
from shared.core.relations.hold import Held
from shared.engines.slurm.engine import SlurmEngine
from slipway.client.entry.program import entering
from slipway.client.entry.tools import Person, command
from tests.contract.slurm.on_slurm import PATIENCE, ended, engine, order, submitted
from tests.contract.slurm.test_entrances import JOB, OWN, placed

pytestmark = pytest.mark.asyncio(loop_scope="session")


def failing(script: str = "echo half > checkpoint") -> Order:
    """A job that leaves something to look at."""
    variables = [{"name": name, "value": value} for name, value in OWN.items()]
    job_order = order(f"{script}; exit 3", environmentVariables=variables)
    return replace(job_order, hold=timedelta(minutes=10))


async def until_held(slurm: SlurmEngine, job_order: Order) -> Held:
    """How it ended, once its node is kept."""
    patience = Patience(PATIENCE)
    while (held := await slurm.held(job_order.target)) is None:
        states = await slurm.status(job_order.target.cluster, [job_order.target])
        assert not patience.is_over(states), states
        await asyncio.sleep(0.1)
    return held


async def test_a_person_looks_at_what_the_job_left_and_gives_its_node_back(cluster: Slurm) -> None:
    async with engine(cluster, enter={"local": True}) as slurm:
        job_order = failing()
        await submitted(slurm, job_order)
        held = await until_held(slurm, job_order)
        place = placed(0, await slurm.entrance(job_order.target, job_order.document, 0))
        script = 'cat checkpoint; echo "$COLOUR"; touch "$AZ_BATCHAI_JOB_TEMP/release"'
        words = command(
            place, entering(JOB, 1, 0, ["sh", "-c", script]), Person(account=cluster.user), terminal=False
        )
        environment = {**os.environ, **cluster.client_environment}
        process = await asyncio.to_thread(
            subprocess.run, words, capture_output=True, env=environment, check=False
        )
        observation = await ended(slurm, job_order.target)

    assert (process.stdout, process.returncode) == (b"half\ndark  blue\n", 0), process.stderr
    assert (observation.state, observation.reason) == (JobState.FAILED, Reason.USER)
    assert observation.exit_code == held.exit_code == 3


async def test_a_job_that_is_put_back_into_its_queue_does_not_run_again(cluster: Slurm) -> None:
    async with engine(cluster, preemptible=True) as slurm:
        job_order = failing()
        await submitted(slurm, job_order)
        await until_held(slurm, job_order)
        number = (await slurm.see(job_order.target)).handle
        await cluster.command("scontrol", "requeue", number)
        observation = await ended(slurm, job_order.target)

    assert (observation.state, observation.reason) == (JobState.FAILED, Reason.USER)
    assert observation.exit_code == 3


@pytest.mark.parametrize("script", ['rm -rf "$AZ_BATCHAI_JOB_TEMP"', 'mkdir "$AZ_BATCHAI_JOB_TEMP/release"'])
async def test_a_job_that_cleans_up_behind_itself_keeps_its_node_too(cluster: Slurm, script: str) -> None:
    async with engine(cluster) as slurm:
        job_order = failing(script)
        await submitted(slurm, job_order)
        held = await until_held(slurm, job_order)
        await slurm.cancel(job_order.target)
        observation = await ended(slurm, job_order.target)

    assert held.exit_code == observation.exit_code == 3
