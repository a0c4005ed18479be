"""The most GPUs that a node has, as far as the nodes say so."""

from __future__ import annotations

from typing import Any

import pytest

from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.namespace import Namespace
from tests.unit.engines.kubernetes.server import server, status

CLUSTER = KubernetesCluster("gpu", shared="/data", volumes={"/data": "pvc:data"}, image="python:3.13")
GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("allocatable", "most"),
    [
        ([{GPU: "1"}, {GPU: "8"}, {"cpu": "4"}], 8),
        ([{GPU: "0"}], 0),
        ([{"cpu": "4"}], None),
        ([], None),
        ([{GPU: "1"}, {GPU: "4k"}], None),
        ([{GPU: 8}], None),
    ],
)
async def test_what_no_node_says_is_not_known(allocatable: list[Any], most: int | None) -> None:
    items = [{"metadata": {"name": "n"}, "status": {"allocatable": one}} for one in allocatable]
    listing = {"kind": "NodeList", "metadata": {}, "items": items}
    async with server(lambda _: (200, listing)) as running:
        client = running.client()
        result = await Namespace(CLUSTER, client).largest(GPU)
        await client.close()

    assert result == most


async def test_nodes_that_may_not_be_listed_are_not_known() -> None:
    refused = status(403, "Forbidden", 'nodes is forbidden: User "slipway" cannot list resource "nodes"')
    ready = (200, b"ok")
    async with server(lambda one: ready if one.path == "/readyz" else refused) as running:
        client = running.client("token")
        result = await Namespace(CLUSTER, client).largest(GPU)
        await client.close()

    assert result is None
