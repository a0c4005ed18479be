"""A partition that lets jobs run for a day: what is asked of it, refused, and left to wait in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from local.slurm import Options, Partition, Slurm, slurm
from shared.core.engine import NEVER, Order
from shared.core.errors import Rejected
from shared.core.facts import ClusterFacts
from shared.core.job import JobState
from tests.contract.slurm.on_slurm import NAME, ended, engine, order, text, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

_PARTITIONS = (
    Partition(name="warm", nodes=2, gpus=1, elastic=False, max_time="1-00:00:00"),
    Partition(name="endless", nodes=1, elastic=False),
)
_SHOWN = "scontrol --oneliner show job $SLURM_JOB_ID"


@pytest_asyncio.fixture(params=["ALL", "NO"], scope="module", loop_scope="session")
async def own(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Slurm]:
    data: Path = tmp_path_factory.mktemp("slurm")
    async with slurm(Options(data=data, partitions=_PARTITIONS, enforced=request.param)) as running:
        yield running


def limited(command: str, time: str | None) -> Order:
    constraints: dict[str, Any] = {"constraints": {"maxWallClockTime": time}} if time else {}
    return order(command, **constraints)


async def test_the_facts_of_a_partition_are_read(own: Slurm) -> None:
    async with engine(own) as slurm, engine(own, partition="endless") as endless:
        assert await slurm.facts(NAME, {}) == ClusterFacts(
            max_nodes=2, gpus=1, memory=4096, longest=timedelta(days=1), lists_all=True
        )
        assert await endless.facts(NAME, {}) == ClusterFacts(max_nodes=1, gpus=0, memory=4096, lists_all=True)
        assert (await slurm.nodes(NAME)).facts == await slurm.facts(NAME, {})


@pytest.mark.parametrize("time", [None, "P1D"])
async def test_a_job_that_names_no_time_or_all_of_it_runs_within_the_limit_of_its_partition(
    own: Slurm, time: str | None
) -> None:
    async with engine(own) as slurm:
        job_order = limited(_SHOWN, time)
        await slurm.submit(job_order)
        assert (await ended(slurm, job_order.target)).state is JobState.SUCCEEDED
        assert "TimeLimit=1-00:00:00" in await text(slurm, job_order.target, "stdout.txt")


async def test_the_limit_is_that_of_the_partition_that_a_job_chooses(own: Slurm) -> None:
    async with engine(own, partition="endless", allow=["partition"]) as slurm:
        job_order = replace(limited(_SHOWN, None), resources={"partition": "warm"})
        assert (await slurm.facts(NAME, {"partition": "warm"})).longest == timedelta(days=1)
        await slurm.submit(job_order)
        assert (await ended(slurm, job_order.target)).state is JobState.SUCCEEDED
        shown = await text(slurm, job_order.target, "stdout.txt")
        assert "Partition=warm" in shown
        assert "TimeLimit=1-00:00:00" in shown


async def test_a_job_that_asks_for_more_is_not_submitted_and_says_field_and_limit(own: Slurm) -> None:
    async with engine(own) as slurm:
        with pytest.raises(
            Rejected, match=r"constraints\.maxWallClockTime: .*warm.* no job run for P2D.*P1D"
        ):
            await slurm.submit(limited("true", "P2D"))
        assert await slurm.at_work(NAME) == {}


async def test_a_limit_that_shrank_unseen_ends_the_job_with_the_field_or_keeps_it_waiting_as_one_job(
    own: Slurm,
) -> None:
    """What was known of the partition is some minutes old: then Slurm refuses it, or takes it for good."""
    async with engine(own, partition="endless") as slurm:
        await slurm.facts(NAME, {})
        await own.command("scontrol", "update", "partitionname=endless", "maxtime=60")
        job_order = limited("true", "PT2H")
        try:
            await slurm.submit(job_order)
        except Rejected as error:
            output = str(error)
            assert "properties.constraints.maxWallClockTime" in output
            assert "PT2H" in output
            assert "2051" in output
            assert "EnforcePartLimits       = ALL" in await own.command("scontrol", "show", "config")
        else:
            observation = await until(
                slurm,
                job_order.target,
                lambda observation: observation is not None and _never(observation.why),
            )
            for _ in range(5):
                await asyncio.sleep(0.3)
                assert (await slurm.status(NAME, [job_order.target]))[
                    job_order.target.name
                ].handle == observation.handle
            queue = await own.command("squeue", "--noheader", "--partition=endless", "--states=all", "-o%i")
            assert queue.split() == [observation.handle]
            await slurm.cancel(job_order.target)
            assert (await ended(slurm, job_order.target)).state is JobState.CANCELLED
        finally:
            await own.command("scontrol", "update", "partitionname=endless", "maxtime=infinite")


def _never(why: object) -> bool:
    return NEVER in getattr(why, "text", "")
