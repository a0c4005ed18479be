"""Jobs that a real Slurm does not start, kills or cancels: nodes, prologs, memory, its administrator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from local.slurm import Options, Partition, Slurm, slurm
from shared.core.engine import Observation
from shared.core.job import JobState, Reason
from shared.engines.slurm import attempts
from tests.contract.slurm.on_slurm import PATIENCE, ended, engine, order, submitted, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

_PARTITIONS = (Partition(name="warm", nodes=2, elastic=False), Partition(name="elastic", nodes=1))


@pytest_asyncio.fixture(loop_scope="session")
async def own(tmp_path: Path) -> AsyncIterator[Slurm]:
    """A cluster on which something has run: its records can be seen."""
    async with slurm(Options(data=tmp_path, partitions=_PARTITIONS, boot_seconds=6)) as running:
        async with engine(running) as slurm_engine:
            job_order = order("true")
            await slurm_engine.submit(job_order)
            await ended(slurm_engine, job_order.target)
        yield running


def _outcome(observation: Observation) -> tuple[JobState, Reason | None, bool]:
    return observation.state, observation.reason, observation.unstarted


def _held_again(observation: Observation | None) -> bool:
    return observation is not None and observation.why is not None and "launch failed" in observation.why.text


async def test_a_node_that_does_not_boot_did_not_start_the_job(own: Slurm) -> None:
    _never_boots(own)
    async with engine(own, partition="elastic") as slurm:
        job_order = order("true")
        await slurm.submit(job_order)
        observation = await ended(slurm, job_order.target)
    assert _outcome(observation) == (JobState.FAILED, Reason.INFRASTRUCTURE, True)


async def test_a_prolog_that_fails_did_not_start_the_job_although_slurm_calls_that_cancelled(
    own: Slurm,
) -> None:
    await _configure(own, "Prolog=/bin/false")
    async with engine(own) as slurm:
        job_order = order("true")
        await slurm.submit(job_order)
        observation = await ended(slurm, job_order.target)
    assert _outcome(observation) == (JobState.FAILED, Reason.INFRASTRUCTURE, True)
    assert "CANCELLED" in observation.message


async def test_a_job_that_is_requeued_held_since_its_launch_failed_is_released_again(
    own: Slurm, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "_LOOK_AGAIN", 1.0)
    await _configure(own, "Prolog=/bin/false")
    async with engine(own, preemptible=True) as slurm:
        job_order = order("true")
        await slurm.submit(job_order)
        observation = await until(slurm, job_order.target, _held_again)
        async with asyncio.timeout(PATIENCE):
            while "released again: launch failed" not in caplog.text:
                await slurm.status(job_order.target.cluster, [job_order.target])
                await asyncio.sleep(0.2)
    assert observation.state is JobState.QUEUED


@pytest.mark.parametrize("begun", [True, False])
async def test_what_the_administrator_cancels_is_cancelled(own: Slurm, begun: bool) -> None:
    async with engine(own) as slurm:
        job_order = order(f"touch {own.shared}/began; sleep 600", nodeCount=1 if begun else 2)
        if begun:
            await submitted(slurm, job_order)
            await until(
                slurm,
                job_order.target,
                lambda observation: observation is not None and observation.state is JobState.RUNNING,
            )
            await _file(own.shared / "began")
        else:
            await submitted(slurm, order("sleep 600"))
            await submitted(slurm, job_order)
        await own.command("scancel", f"--name={job_order.target.name}")
        observation = await ended(slurm, job_order.target)
    assert _outcome(observation) == (JobState.CANCELLED, Reason.TERMINATED, False)


async def test_a_memory_kill_is_the_jobs_own_and_says_so(own: Slurm) -> None:
    """The kernel mostly takes the process that grew; sometimes, as here, what started it."""
    async with engine(own) as slurm:
        grew, all_of_it = order("kill -9 $$"), order("kill -9 $PPID")
        for job_order in (grew, all_of_it):
            await slurm.submit(job_order)
        observation = [await ended(slurm, job_order.target) for job_order in (grew, all_of_it)]
    for one in observation:
        assert (one.state, one.reason, one.exit_code) == (JobState.FAILED, Reason.USER, 137)
        assert "memory" in one.message


def _never_boots(running: Slurm) -> None:
    program = running.home / "bin" / "node-on"
    program.unlink()
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)


async def _configure(running: Slurm, line: str) -> None:
    with (running.home / "slurm.conf").open("a") as file:
        file.write(f"{line}\n")
    await running.command("scontrol", "reconfigure")
    await asyncio.sleep(2)  # the nodes read it a little later


async def _file(path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        while not path.exists():  # noqa: ASYNC110, ASYNC240 - another process
            await asyncio.sleep(0.05)
