"""Attempts for the tests of the engine on Kubernetes, and how they are awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from local.patience import Patience
from shared.core.engine import Observation, Order
from shared.core.job import Target
from shared.engines.kubernetes.engine import KubernetesEngine
from tests.contract.kubernetes.on_kubernetes import NAME

_PATIENCE = 60.0


def order(command: str, *, name: str = "digits-abc-1", token: str = "", nodes: int = 1, **more: Any) -> Order:
    target = Target(
        engine="kubernetes", cluster=NAME, experiment="exp", name=name, token=token or f"j_{name}.1"
    )
    properties = {
        "cluster": {"id": f"/clusters/{NAME}"},
        "nodeCount": nodes,
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        "customToolkitSettings": {"commandLine": command},
        **more,
    }
    return Order(target, {"properties": properties})


async def until(
    engine: KubernetesEngine, target: Target, expected: Callable[[Observation], bool]
) -> Observation:
    """Its observation, as soon as that is as expected."""
    patience = Patience(_PATIENCE)
    while not expected(observation := await engine.see(target)):
        assert not patience.is_over(observation), observation
        await asyncio.sleep(0.05)
    return observation


def is_over(observation: Observation) -> bool:
    return observation.state.terminal
