"""What a real Slurm says of jobs that wait: its own sentence, and the jobs before them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from local.patience import Patience
from local.slurm import Options, Partition, slurm
from shared.core.errors import Busy
from shared.core.job import JobState, Target
from shared.engines.slurm.engine import SlurmEngine
from tests.contract.slurm.on_slurm import PATIENCE, ended, engine, order, submitted, until

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def says(engine_on_it: SlurmEngine, target: Target, words: str) -> None:
    """Wait until the reason of a job has these words, by questions of its own."""
    patience = Patience(PATIENCE)
    text = ""
    while words not in text:
        assert not patience.is_over(text), text
        await asyncio.sleep(0.2)
        why = (await engine_on_it.see(target)).why
        text = why.text if why else ""


async def test_a_job_says_what_is_before_it_and_a_drained_node_is_not_called_busy(tmp_path: Path) -> None:
    partitions = (Partition(name="warm", nodes=1, elastic=False),)
    async with slurm(Options(data=tmp_path, partitions=partitions)) as own, engine(own) as slurm_engine:
        works, first, second = (order("sleep 600") for _ in range(3))
        await submitted(slurm_engine, works)
        await until(slurm_engine, works.target, lambda one: one is not None and one.state is JobState.RUNNING)
        for job_order in (first, second):
            await submitted(slurm_engine, job_order)
        await says(slurm_engine, second.target, "1 job is before it in its partition")

        (node,) = (await own.command("sinfo", "--noheader", "-o%n")).split()
        await own.command("scontrol", "update", f"nodename={node}", "state=drain", "reason=repair")
        await slurm_engine.cancel(works.target)
        await says(slurm_engine, first.target, "DRAINED")


async def test_what_its_administrator_closes_is_waited_for_and_named(tmp_path: Path) -> None:
    """A drained partition takes no jobs; one that is down, or kept for maintenance, starts none."""
    partitions = (Partition(name="warm", nodes=1, elastic=False),)
    async with slurm(Options(data=tmp_path, partitions=partitions)) as own, engine(own) as slurm_engine:
        waits = order("true")
        await own.command("scontrol", "update", "partitionname=warm", "state=drain")
        with pytest.raises(Busy, match="inactive or drain"):
            await slurm_engine.submit(waits)

        await own.command("scontrol", "update", "partitionname=warm", "state=down")
        await submitted(slurm_engine, waits)
        await says(slurm_engine, waits.target, "partition is down")

        maintenance = ("starttime=now", "duration=60", "nodes=ALL", "flags=maint", f"users={own.user}")
        await own.command("scontrol", "create", "reservation", "reservationname=m", *maintenance)
        await own.command("scontrol", "update", "partitionname=warm", "state=up")
        await says(slurm_engine, waits.target, "maintenance")

        await own.command("scontrol", "delete", "reservationname=m")
        assert (await ended(slurm_engine, waits.target)).state is JobState.SUCCEEDED
