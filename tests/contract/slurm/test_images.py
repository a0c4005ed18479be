"""Jobs whose image cannot be run on the nodes of a real Slurm, with a program in the place of Apptainer."""

from __future__ import annotations

import pytest

from local.slurm import Slurm
from shared.core.job import JobState, Reason
from tests.contract.slurm.on_slurm import ended, engine, order, text

pytestmark = pytest.mark.asyncio(loop_scope="session")

_IMAGE = {"imageSourceRegistry": {"image": "team/tools:1"}}
_WORDS = "FATAL:   Unable to handle docker://team/tools:1: manifest unknown"
#: Runs its command on the node itself, where the image is there.
_APPTAINER = """#!/bin/bash
[ -e "$0.there" ] || {{ echo 'INFO:    Converting OCI blobs' >&2; echo '{words}' >&2; exit 255; }}
while [ "$1" != docker://team/tools:1 ]; do shift; done
shift; exec "$@"
"""


@pytest.mark.parametrize("nodes", [1, 2])
async def test_an_image_that_no_node_can_fetch_is_named_and_nothing_of_the_job_runs(
    cluster: Slurm, nodes: int
) -> None:
    programs = cluster.shared / f"programs-{nodes}"
    programs.mkdir()
    apptainer = programs / "apptainer"
    apptainer.write_text(_APPTAINER.format(words=_WORDS))
    apptainer.chmod(0o755)
    toolkit = (
        {"customMpiSettings": {"commandLine": "echo ran", "processCount": nodes}} if nodes > 1 else "echo ran"
    )
    path = f"{programs}:/usr/local/bin:/usr/bin:/bin"
    async with engine(cluster, container="apptainer", path=path, mpi="none") as slurm:
        first, second = (order(toolkit, nodeCount=nodes, containerSettings=_IMAGE) for _ in range(2))
        await slurm.submit(first)
        end = await ended(slurm, first.target)
        present = programs / "apptainer.there"
        present.touch()
        await slurm.submit(second)
        later = await ended(slurm, second.target)
        printed = await text(slurm, second.target, "stdout.txt")

    assert (end.state, end.reason, end.exit_code) == (JobState.FAILED, Reason.INFRASTRUCTURE, None)
    assert _WORDS in end.message
    assert (later.state, printed) == (JobState.SUCCEEDED, "ran\n" * nodes)
