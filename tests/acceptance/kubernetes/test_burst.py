"""Kills of API server and store while an engine submits: nothing is lost, and nothing runs twice."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections import Counter
from contextlib import suppress

import pytest

from local.kubernetes import Kubernetes
from local.patience import Patience
from shared.core.engine import Order
from shared.core.errors import Busy, Transient
from shared.core.job import JobState, Target
from shared.engines.kubernetes.engine import KubernetesEngine
from tests.acceptance.kubernetes.jobs import PATIENCE
from tests.acceptance.kubernetes.on_cluster import NAME, engine_on

pytestmark = pytest.mark.asyncio(loop_scope="session")
_COUNT = 300
#: The names of a job and its pod, in a reason.
_PLACE = re.compile(r"\bn-[0-9a-f]{12}\S*")


async def test_a_burst_through_the_engine_outlives_its_api_server_and_its_store(cluster: Kubernetes) -> None:
    engine, at_once, marks = engine_on(cluster, gpus=0), asyncio.Semaphore(8), cluster.shared / "marks"
    names = [f"n-{uuid.uuid4().hex[:12]}" for _ in range(_COUNT)]
    targets = [
        Target(engine="kubernetes", cluster=NAME, experiment="exp", name=name, token="t.1") for name in names
    ]
    submitted, milestones = list[str](), {_COUNT // 6: asyncio.Event(), _COUNT // 2: asyncio.Event()}
    command = f'echo "$SLIPWAY_NAME" >> {marks}'

    async def submit(target: Target) -> None:
        async with at_once:
            await _insist(engine, _order(target, command))
            submitted.append(target.name)
            if event := milestones.get(len(submitted)):
                event.set()

    submitting = [asyncio.create_task(submit(target)) for target in targets]
    early, late = milestones.values()
    await early.wait()
    await cluster.kill_api()
    await cluster.start_api()
    await late.wait()
    await cluster.kill_store()
    await cluster.start_store()
    await asyncio.gather(*submitting)
    ends = await _ends(engine, targets)
    await engine.close()

    assert ends == Counter({(JobState.SUCCEEDED, ""): _COUNT})
    assert Counter(marks.read_text().split()) == Counter(target.name for target in targets)


async def _insist(engine: KubernetesEngine, order: Order) -> None:
    """Submit as the ledger does: again with the same token where the answer was lost."""
    patience = Patience(PATIENCE)
    while True:
        with suppress(Transient, Busy):
            await engine.submit(order)
            return
        assert not patience.is_over(None)
        await asyncio.sleep(0.2)


async def _ends(engine: KubernetesEngine, targets: list[Target]) -> Counter[tuple[JobState, str]]:
    """How many ended in each way, with the reasons of those that failed."""
    patience = Patience(PATIENCE)
    while True:
        try:
            observations = await engine.status(NAME, targets)
        except (Transient, Busy):
            observations = {}
        ways = Counter((one.state, _PLACE.sub("", one.message)) for one in observations.values())
        if sum(count for (state, _), count in ways.items() if state.terminal) == len(targets):
            return ways
        assert not patience.is_over(ways), ways
        await asyncio.sleep(1)


def _order(target: Target, command: str) -> Order:
    properties = {
        "cluster": {"id": f"/clusters/{NAME}"},
        "nodeCount": 1,
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        "customToolkitSettings": {"commandLine": command},
        "environmentVariables": [{"name": "SLIPWAY_NAME", "value": target.name}],
    }
    return Order(target, {"properties": properties})
