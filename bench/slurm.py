"""How fast the Slurm engine submits: `python -m bench.slurm [JOBS]`. Half of what slurmrestd takes is wanted.

On the mini cluster: as many plain submissions of held jobs as slurmrestd takes, then the same number through
the engine, then one bulk status over all of them. The release, later, is another call for each job.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from bench.clusters.rounds import rate
from local.slurm import Options, Partition, Slurm, slurm
from shared.core.engine import Order
from shared.core.job import Target
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.engine import SlurmEngine
from shared.engines.slurm.wire.client import SlurmClient
from shared.engines.slurm.wire.key import SigningKey

_PARTITION = Partition(name="off", nodes=1)


async def main(jobs: int) -> None:
    """Print the two rates, and what a bulk status takes."""
    with tempfile.TemporaryDirectory() as data:
        async with slurm(Options(data=Path(data), partitions=(_PARTITION,))) as running:
            plain = await _plain(running, jobs)
            submissions, seconds = await _engine(running, jobs)
    sys.stdout.write(
        f"slurmrestd alone     {plain:6.0f} submissions/s\n"
        f"the engine           {submissions:6.0f} submissions/s ({submissions / plain:.0%})\n"
        f"one bulk status      {seconds:6.2f} s for {jobs} jobs among {2 * jobs}\n"
    )


async def _plain(running: Slurm, jobs: int) -> float:
    client = SlurmClient(_cluster(running), SigningKey(running.jwt_key.read_bytes()))
    dialect = await client.agree()
    body = dialect.submission(
        {
            "name": "plain",
            "hold": True,
            "current_working_directory": "/",
            "environment": dialect.environment({"PATH": "/bin"}),
        },
        "#!/bin/sh\nexit\n",
    )

    async def submit(_: int) -> None:
        assert (await client.call("POST", "/job/submit", body)).body["job_id"]

    plain = await rate(range(jobs), submit)
    await client.close()
    return plain


async def _engine(running: Slurm, jobs: int) -> tuple[float, float]:
    engine = SlurmEngine({"bench": _cluster(running)}, {"bench": SigningKey(running.jwt_key.read_bytes())})
    targets = [_target(number) for number in range(jobs)]
    document = {
        "properties": {
            "nodeCount": 1,
            "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
            "customToolkitSettings": {"commandLine": "true"},
        }
    }
    submissions = await rate(targets, lambda target: engine.submit(Order(target, document)))
    began = time.monotonic()
    observations = await engine.status("bench", targets)
    seconds = time.monotonic() - began
    assert len(observations) == jobs
    await engine.close()
    return submissions, seconds


def _cluster(running: Slurm) -> SlurmCluster:
    # Nothing is released while it is measured.
    return SlurmCluster(
        "bench", url=running.url, user=running.user, shared=str(running.shared), settle_seconds=3600.0
    )


def _target(number: int) -> Target:
    return Target(
        engine="slurm", cluster="bench", experiment="bench", name=f"bench-{number}", token=f"j.{number}"
    )


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
