"""Jobs that share a node of a real Slurm, each with its own part of it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from local.slurm import Options, Partition, Slurm, slurm
from shared.core.engine import Order
from shared.core.errors import Misconfigured, Rejected
from shared.core.facts import Allotted
from shared.core.job import JobState, Reason
from shared.jobspec import RESOURCES
from tests.contract.slurm.on_slurm import NAME, ended, engine, order, submitted, text, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

_HALF = {"gpus": 1, "cpus": 2, "memory": "1G"}


@pytest_asyncio.fixture(loop_scope="session")
async def divided(tmp_path: Path) -> AsyncIterator[Slurm]:
    """One node with two GPUs, which jobs may share."""
    node = Partition(name="node", nodes=1, gpus=2, elastic=False, divided=True)
    async with slurm(Options(data=tmp_path, partitions=(node,))) as running:
        yield running


def asking(command: str, resources: dict[str, Any] | None = None, **properties: Any) -> Order:
    return replace(order(command, **properties), resources=resources or {})


async def test_two_jobs_of_half_a_node_run_side_by_side_each_with_its_own_gpu(divided: Slurm) -> None:
    def meets(own: str, other: str) -> str:
        say = 'echo "$CUDA_VISIBLE_DEVICES $AZ_BATCHAI_NUM_GPUS $SLURM_CPUS_ON_NODE"'
        met = f"touch {divided.shared}/{own}; until [ -e {divided.shared}/{other} ]; do sleep 0.1; done"
        return f"{met}; {say}"

    async with engine(divided, partition="node", gpus=2, resources=_HALF, allow=["gpus"]) as slurm:
        first, second = asking(meets("a", "b")), asking(meets("b", "a"), {"gpus": 1})
        assert (await slurm.facts(NAME, {})).allotted == Allotted(1, 0.5), "by its request"
        await submitted(slurm, first)
        running = await until(slurm, first.target, lambda one: one is not None and one.started is not None)
        assert running.allotted == Allotted(1, 0.5), "by AllocTRES, and the GPUs of its nodes"
        await submitted(slurm, second)
        for one in (first, second):
            end = await ended(slurm, one.target)
            assert (end.state, end.allotted and end.allotted.part) == (JobState.SUCCEEDED, 0.5)
        output = [(await text(slurm, one.target, "stdout.txt")).split() for one in (first, second)]

    assert sorted(words[0] for words in output) == ["0", "1"]
    assert [words[1:] for words in output] == [["1", "2"]] * 2


@pytest.mark.parametrize("partition", ["node", "", "node,other"])
async def test_a_job_counts_as_its_largest_part_from_its_start_to_its_end(
    tmp_path: Path, partition: str
) -> None:
    """Slurm counts no GPUs by default once a job has ended, and chooses the partition itself."""
    nodes = [Partition(name=name, nodes=1, gpus=2, elastic=False, divided=True) for name in ("node", "other")]
    options: dict[str, Any] = {"partition": partition, "gpus": 2, "resources": _HALF, "allow": ["cpus"]}
    async with slurm(Options(data=tmp_path, partitions=tuple(nodes))) as own, engine(own, **options) as on_it:
        facts = await on_it.facts(NAME, {"cpus": 1})
        assert facts.allotted.part in ((0.5,) if partition == "node" else (0.5, None))
        job_order = asking("sleep 1", {"cpus": 1})
        await submitted(on_it, job_order)
        running = await until(
            on_it, job_order.target, lambda one: one is not None and one.started is not None
        )
        end = await ended(on_it, job_order.target)

    assert [one.allotted for one in (running, end)] == [Allotted(1, 0.5)] * 2


async def test_a_job_may_still_have_the_whole_node(divided: Slurm) -> None:
    async with engine(divided, partition="node", gpus=2, resources=_HALF, allow=["exclusive"]) as slurm:
        job_order = asking(
            'echo "$CUDA_VISIBLE_DEVICES $AZ_BATCHAI_NUM_GPUS $SLURM_CPUS_ON_NODE"', {"exclusive": True}
        )
        await slurm.submit(job_order)
        end = await ended(slurm, job_order.target)
        assert (end.state, end.allotted and end.allotted.part) == (JobState.SUCCEEDED, 1.0)
        assert await text(slurm, job_order.target, "stdout.txt") == "0,1 2 4\n"


async def test_options_reach_slurm_as_they_are(divided: Slurm) -> None:
    async with engine(divided, partition="node", resources={"options": {"wckey": "project-7"}}) as slurm:
        job_order = asking("true")
        await slurm.submit(job_order)
        assert "project-7" in await divided.command("squeue", "--noheader", "--format=%w")
        await slurm.cancel(job_order.target)


async def test_an_option_that_slurm_does_not_know_is_an_error_and_nothing_runs(divided: Slurm) -> None:
    async with engine(divided, partition="node", resources={"options": {"licence": "x"}}) as slurm:
        with pytest.raises((Rejected, Misconfigured), match=r"licence|parsing"):
            await slurm.submit(asking("true"))
        assert await slurm.at_work(NAME) == {}


_ABSENT: tuple[tuple[dict[str, Any], str], ...] = (
    ({"partition": "nodes"}, "a partition nodes"),
    ({"gpus": 3}, "more than 2 GPUs"),
    ({"gpus": 1, "gpuType": "a100"}, "no node of node has GPUs of type a100"),
    ({"cpus": 5}, "more than 4 CPUs"),
    ({"memory": "5G"}, "more than 4096 MiB"),
)
_REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"reservation": "nowhere"}, "reservation"),
    ({"partition": "nodes"}, "partition"),
    ({"constraint": "nothing"}, "constraint"),
    ({"options": {"licenses": "nothing:1"}}, "options"),
)


async def test_what_a_job_chose_and_slurm_does_not_have_is_refused_and_says_so(divided: Slurm) -> None:
    async with engine(divided, partition="node", allow=RESOURCES) as slurm:
        for job_order, output in _ABSENT:
            await slurm.facts(NAME, job_order)
            (problem,) = slurm.allots(NAME, job_order)
            assert output in problem.message
        await slurm.facts(NAME, {})
        assert slurm.allots(NAME, {"gpus": 2, "cpus": 4, "memory": "4G"}) == ()

        for job_order, at in _REFUSED:
            with pytest.raises(Rejected, match=rf"^resources\.{at}: Slurm: "):
                await slurm.submit(asking("true", job_order))
        assert await slurm.at_work(NAME) == {}


@pytest.mark.parametrize("lacking", ["python3", "scontrol"])
async def test_a_path_without_a_program_that_a_run_needs_says_so(
    divided: Slurm, tmp_path: Path, lacking: str
) -> None:
    folder = tmp_path / "programs"
    folder.mkdir()
    if lacking != "python3":
        (folder / "python3").symlink_to(sys.executable)
    (divided.shared / "attempts").mkdir(mode=0o700, exist_ok=True)  # as after any run: records would be seen
    async with engine(divided, partition="node", path=str(folder)) as slurm:
        job_order = asking("true")
        await slurm.submit(job_order)
        observation = await ended(slurm, job_order.target)
        assert observation.state is JobState.FAILED
        assert observation.reason is (Reason.INFRASTRUCTURE if lacking == "python3" else Reason.UNSUPPORTED)
        assert lacking in observation.message
        assert "`path` of the cluster" in observation.message
