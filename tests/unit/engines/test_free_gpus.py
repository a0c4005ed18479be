"""How many GPUs of a cluster no job has, on each engine that shows it."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.facts import Gpus
from shared.engines.batchai.facts import view_of
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.nodes import view

SLURM = SlurmCluster("gpu", url="https://head", user="u", shared="/s")


def node(state: str, gres: str = "gpu:a100:4(S:0-1)", **more: Any) -> dict[str, Any]:
    return {"name": state, "state": [state], "partitions": ["p"], "gres": gres, **more}


@pytest.mark.parametrize(
    ("nodes", "gpus"),
    [
        ([node("IDLE", gres_used="gpu:a100:0(IDX:N/A)"), node("IDLE")], Gpus(8, 8)),
        ([node("MIXED", gres_used="gpu:a100:3(IDX:0-2)"), node("IDLE")], Gpus(5, 8)),
        ([node("ALLOCATED", gres_used="gpu:a100:4(IDX:0-3)")], Gpus(0, 4)),
        ([node("DOWN"), node("DRAIN"), node("IDLE")], Gpus(4, 4)),
        ([node("POWERED_DOWN"), node("POWERING_UP"), node("IDLE")], Gpus(4, 4)),
        ([node("MIXED"), node("IDLE")], None),
        ([node("MIXED", gres=""), node("IDLE")], Gpus(4, 4)),
        ([node("IDLE", gres="")], None),
        ([], None),
    ],
)
def test_slurm_counts_what_its_nodes_have_in_use(nodes: list[dict[str, Any]], gpus: Gpus | None) -> None:
    assert view(SLURM, nodes).gpus == gpus


@pytest.mark.parametrize(
    ("size", "counts", "gpus"),
    [
        ("Standard_NC24", {"idleNodeCount": 1, "runningNodeCount": 2, "preparingNodeCount": 3}, Gpus(4, 12)),
        ("Standard_D2", {"idleNodeCount": 1}, None),
        ("Standard_NC24", {}, None),
    ],
)
def test_batch_ai_counts_its_nodes_without_a_job(
    size: str, counts: dict[str, int], gpus: Gpus | None
) -> None:
    assert view_of("gpu", {"vmSize": size, "nodeStateCounts": counts}).gpus == gpus
