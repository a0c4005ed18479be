"""Jobs on several nodes of Azure Batch, and nodes that are taken away, on the emulator."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from local.patience import Patience
from shared.core.engine import Observation, Order
from shared.core.job import JobState, Reason, Target
from shared.engines.batch.engine import BatchEngine
from shared.engines.batch.wire.client import BatchClient
from tests.breadth import every_few
from tests.contract.azurebatch.on_batch import NAME, Account, account, engine_on

#: Seconds without any progress.
PATIENCE = 60.0
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Account]:
    options = {"preempted-seconds": "0.5"}
    async with account(tmp_path_factory.mktemp("batch"), **options) as result:
        yield result


@pytest_asyncio.fixture(loop_scope="module")
async def spot(running: Account) -> AsyncIterator[BatchEngine]:
    result = await engine_on(running, spot=True)
    yield result
    await result.close()


def order(block: dict[str, Any], nodes: int) -> Order:
    name = f"n-{uuid.uuid4().hex[:12]}"
    target = Target(engine="batch", cluster=NAME, experiment="exp", name=name, token=f"{name}.1")
    properties = {
        "cluster": {"id": f"/clusters/{NAME}"},
        "nodeCount": nodes,
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        **block,
    }
    return Order(target, {"properties": properties})


async def until(engine: BatchEngine, target: Target, expected: Callable[[Observation], bool]) -> Observation:
    """What a pass says of it at last: passes scale the pool."""
    patience = Patience(PATIENCE)
    while True:
        observation = (await engine.status(NAME, [target])).get(target.name)
        if observation is not None and expected(observation):
            return observation
        assert not patience.is_over(observation and observation.state), observation
        await asyncio.sleep(0.1)


def ended(observation: Observation) -> bool:
    return observation.state.terminal


def runs(observation: Observation) -> bool:
    return observation.state is JobState.RUNNING


async def text(engine: BatchEngine, target: Target, file: str) -> str:
    return (await engine.read(target, "stdouterr", file, 0, 1 << 20)).data.decode()


async def test_a_job_on_three_nodes_starts_on_all_of_them_together_from_zero(
    spot: BatchEngine, tmp_path: Path
) -> None:
    script = tmp_path / "ranks.py"
    names = "AZ_BATCHAI_TASK_INDEX", "AZ_BATCH_NODE_ID", "AZ_BATCH_HOST_LIST"
    script.write_text(f"import os\nprint(*(os.environ[name] for name in {names}))\n")
    block = {"caffe2Settings": {"pythonScriptFilePath": str(script), "pythonInterpreterPath": "python3"}}
    job = order(block, 3)

    await spot.submit(job)
    end = await until(spot, job.target, ended)

    assert (end.state, end.message) == (JobState.SUCCEEDED, "")
    lines = [(await text(spot, job.target, f"stdout-{rank}.txt")).split() for rank in range(3)]
    assert [line[0] for line in lines] == ["0", "1", "2"]
    assert len({line[1] for line in lines}) == 3, "a node for each rank"
    assert len({line[2] for line in lines}) == 1
    assert len(set(lines[0][2].split(","))) == 3


@pytest.mark.thorough
async def test_a_rank_that_fails_fails_the_job_with_its_exit_code(spot: BatchEngine, tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text(
        "import os, sys, time\n"
        "if os.environ['AZ_BATCHAI_TASK_INDEX'] == '1':\n    sys.exit(7)\n"
        "time.sleep(1000)\n"
    )
    block = {"caffe2Settings": {"pythonScriptFilePath": str(script), "pythonInterpreterPath": "python3"}}
    job = order(block, 2)

    await spot.submit(job)
    end = await until(spot, job.target, ended)

    assert (end.state, end.reason, end.exit_code) == (JobState.FAILED, Reason.USER, 7)


@pytest.mark.parametrize("nodes", every_few([1, 2], 1))
async def test_a_node_that_is_taken_away_makes_the_same_attempt_run_again(
    spot: BatchEngine, running: Account, tmp_path: Path, nodes: int
) -> None:
    mark = tmp_path / "began"
    command = f"if [ -e {mark} ]; then echo again; else touch {mark}; sleep 1000; fi"
    job = order({"customToolkitSettings": {"commandLine": command}}, nodes)
    await spot.submit(job)
    await until(spot, job.target, runs)
    patience = Patience(PATIENCE)
    while not mark.exists():
        assert not patience.is_over(None)
        await asyncio.sleep(0.1)

    client = BatchClient(running.url, running.key)
    task = (await client.call("GET", f"/jobs/{NAME}-normal/tasks/{job.target.name}")).body
    node = task["nodeInfo"]["nodeId"]
    await client.call("POST", f"/emulator/pools/t4/nodes/{node}/preempt")
    await client.close()
    end = await until(spot, job.target, ended)

    assert (end.state, end.message) == (JobState.SUCCEEDED, "")
    assert await text(spot, job.target, "stdout.txt") == "again\n"


@pytest.mark.thorough
async def test_a_job_on_several_nodes_is_cancelled_on_all_of_them(spot: BatchEngine, tmp_path: Path) -> None:
    mark = tmp_path / "began"
    job = order({"customToolkitSettings": {"commandLine": f"touch {mark}; sleep 1000"}}, 2)
    await spot.submit(job)
    patience = Patience(PATIENCE)
    while not mark.exists():
        assert not patience.is_over(None)
        await spot.status(NAME, [job.target])
        await asyncio.sleep(0.1)

    await spot.cancel(job.target)
    end = await until(spot, job.target, ended)

    assert (end.state, end.reason) == (JobState.CANCELLED, Reason.TERMINATED)
