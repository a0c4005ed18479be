"""Other users of a real cluster, who see the names and the comments of our jobs and use them."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from local.slurm import Options, Partition, Slurm, slurm
from shared.core.errors import NotFound
from shared.core.job import JobState
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.wire.client import SlurmClient
from shared.engines.slurm.wire.dialect import comment
from shared.engines.slurm.wire.key import SigningKey
from tests.contract.slurm.on_slurm import NAME, PATIENCE, ended, engine, order, until
from tests.contract.slurm.test_faults import _forget_everything

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(os.getuid() != 0, reason="a cluster of two users is started by root"),
]


@dataclass
class Stranger:
    """Another user of the cluster, who talks to slurmrestd with a token of their own."""

    client: SlurmClient

    async def submit(self, name: str, token: str, command: str, **more: object) -> int:
        """A job with our name and mark; its number."""
        dialect = await self.client.agree()
        job = {
            "name": name,
            "comment": comment(token, None),
            "partition": "warm",
            "nodes": "1",
            "tasks": 1,
            "current_working_directory": "/tmp",
            "standard_output": "/dev/null",
            "environment": dialect.environment({"PATH": "/usr/bin:/bin"}),
            **more,
        }
        answer = await self.client.call(
            "POST", "/job/submit", dialect.submission(job, f"#!/bin/sh\n{command}\n")
        )
        return int(answer.body["job_id"])

    async def state(self, number: int) -> str:
        answer = await self.client.call("GET", f"/job/{number}")
        result = answer.body["jobs"][0]["job_state"]
        return result if isinstance(result, str) else str(result[0])

    async def until(self, number: int, state: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while await self.state(number) != state:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.1)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A directory that the other user may enter, as a test's own is not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest_asyncio.fixture(loop_scope="session")
async def own(open_folder: Path) -> AsyncIterator[Slurm]:
    partitions = (Partition(name="warm", nodes=2, elastic=False),)
    data = open_folder / "data"
    async with slurm(Options(data=data, partitions=partitions)) as running:
        # A cluster of one user keeps its folders to itself; the nodes run the other user's script from there.
        for folder in (data, *(path for path in data.rglob("*") if path.is_dir())):
            folder.chmod(0o755)
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def stranger(own: Slurm) -> AsyncIterator[Stranger]:
    cluster_known = SlurmCluster(NAME, url=own.url, user="nobody", shared="/tmp")
    client = SlurmClient(cluster_known, SigningKey(own.jwt_key.read_bytes()))
    yield Stranger(client)
    await client.close()


async def test_a_job_of_a_stranger_with_our_name_and_mark_is_not_taken_for_ours(
    own: Slurm, stranger: Stranger
) -> None:
    async with engine(own) as slurm:
        job_order = order(f"until [ -e {own.shared}/go ]; do sleep 0.1; done; exit 3")
        await slurm.submit(job_order)
        over = await stranger.submit(job_order.target.name, "t.1", "exit 0")
        waits = await stranger.submit(job_order.target.name, "t.1", "exit 0", hold=True)
        await stranger.until(over, "COMPLETED")
        assert not (await slurm.see(job_order.target)).state.terminal
        await until(
            slurm,
            job_order.target,
            lambda observation: observation is not None and observation.state is JobState.RUNNING,
        )
        (own.shared / "go").touch()
        observation = await ended(slurm, job_order.target)
        await slurm.cancel(job_order.target)

    assert (observation.state, observation.exit_code) == (JobState.FAILED, 3)
    assert await stranger.state(waits) == "PENDING"


async def test_a_number_that_a_stranger_got_after_a_loss_of_state_says_nothing(
    own: Slurm, stranger: Stranger
) -> None:
    async with engine(own, reads={}) as slurm:
        job_order = order(f"touch {own.shared}/began; sleep 600")
        await slurm.submit(job_order)
        await until(
            slurm,
            job_order.target,
            lambda observation: observation is not None and observation.state is JobState.RUNNING,
        )
        await slurm.status(NAME, [job_order.target])  # by now its number is known
        await _forget_everything(own)
        assert await stranger.submit("theirs", "", "sleep 600") == 1
        assert await stranger.state(1) in ("PENDING", "CONFIGURING", "RUNNING")

        assert await slurm.status(NAME, [job_order.target]) == {}
        with pytest.raises(NotFound):
            await slurm.see(job_order.target)
