"""What queued jobs wait for on the emulator, as the engine tells."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from shared.core.engine import Observation, Why
from shared.core.errors import Misconfigured
from shared.core.job import JobState, Target
from shared.engines.batchai.client import Workspace
from shared.engines.batchai.engine import BatchAIEngine
from tests.contract.emulator.conftest import CLUSTER, EXPERIMENT, GROUP, Lab, autoscale, custom, until

TOKEN = "t"


def ours(command: str) -> dict[str, Any]:
    """A job of the engine: it has the token of its submission."""
    return {**custom(command), "environmentVariables": [{"name": "SLIPWAY_TOKEN", "value": TOKEN}]}


@pytest_asyncio.fixture(loop_scope="session")
async def engine(lab: Lab) -> AsyncIterator[BatchAIEngine]:
    result = BatchAIEngine(Workspace(lab.emulator.url, "sub", GROUP, lab.workspace))
    yield result
    await result.close()


async def _observations(engine: BatchAIEngine, *names: str) -> list[Observation]:
    """What the jobs wait for, which one look at all and a look at each report alike."""
    targets = [
        Target(engine="batchai", cluster=CLUSTER, experiment=EXPERIMENT, name=name, token=TOKEN)
        for name in names
    ]
    while True:
        before = await _at_once(engine, targets)
        direct = [await engine.see(target) for target in targets]
        # The cluster moves on: only looks between which nothing happened can be compared.
        if before == await _at_once(engine, targets):
            break
    assert before == [observation.why for observation in direct]
    return direct


async def _at_once(engine: BatchAIEngine, targets: list[Target]) -> list[Why | None]:
    report = await engine.status(CLUSTER, targets)
    return [report[target.name].why for target in targets]


def _words(records: list[Observation]) -> list[str | None]:
    return [one.why.word if one.why else None for one in records]


async def test_a_job_behind_a_larger_one_waits_for_its_turn(lab: Lab, engine: BatchAIEngine) -> None:
    await lab.make_cluster({"manual": {"targetNodeCount": 2}})
    await lab.submit("first", **ours("sleep 600"))
    await lab.reaches("first", "running")

    async def one_is_idle() -> bool:
        return bool((await lab.cluster()).node_state_counts.idle_node_count == 1)

    await until(one_is_idle)
    await lab.submit("larger", nodeCount=2, **ours("sleep 600"))
    await lab.submit("small", **ours("sleep 600"))

    assert _words(await _observations(engine, "first", "larger", "small")) == [None, "NodesBusy", "InTurn"]


async def test_a_preempted_job_does_not_wait_for_the_nodes_that_it_had(
    lab: Lab, engine: BatchAIEngine
) -> None:
    await lab.make_cluster(autoscale(1), vmPriority="lowpriority")
    await lab.submit("job", **ours("sleep 600"))
    await lab.submit("next", **ours("sleep 600"))
    await lab.reaches("job", "running")
    assert _words(await _observations(engine, "job", "next")) == [None, "NodesBusy"]
    _, body, _ = await lab.send("GET", "/emulator/nodes")
    (node,) = [one["id"] for one in body["value"] if one["cluster"].startswith(lab.path)]
    await lab.send("POST", f"/emulator/nodes/{node}/preempt")
    await lab.reaches("job", "queued")

    (observation, _) = await _observations(engine, "job", "next")
    assert observation.state is not JobState.QUEUED or (
        observation.why and observation.why.word != "NodesBusy"
    )


async def test_of_a_workspace_that_is_gone_nothing_is_said_and_of_an_experiment_that_it_has_no_jobs(
    lab: Lab, engine: BatchAIEngine
) -> None:
    target = Target(engine="batchai", cluster=CLUSTER, experiment="none", name="job", token=TOKEN)
    await lab.prepare()
    assert await engine.status(CLUSTER, [target]) == {}

    await lab.client.workspaces.begin_delete(GROUP, lab.workspace)

    async def removed() -> bool:
        return (await lab.send("GET", lab.path))[0] == 404

    await until(removed)
    with pytest.raises(Misconfigured, match="WorkspaceNotFound"):
        await engine.status(CLUSTER, [target])
    with pytest.raises(Misconfigured, match="WorkspaceNotFound"):
        await engine.at_work(CLUSTER)
