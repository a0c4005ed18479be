"""What a Batch AI cluster's resource says of its jobs."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.facts import ClusterFacts
from shared.engines.batchai.facts import facts_of

_SHARE = {
    "accountName": "a",
    "azureFileUrl": "https://a.file.core.windows.net/logs",
    "relativeMountPath": "logs",
}
_BLOBS = {"accountName": "a", "containerName": "c", "relativeMountPath": "data"}
_SETUP = {
    "mountVolumes": {"azureFileShares": [_SHARE], "azureBlobFileSystems": [_BLOBS], "fileServers": None}
}


@pytest.mark.parametrize(
    ("properties", "facts"),
    [
        (
            {
                "vmSize": "STANDARD_NC12",
                "scaleSettings": {"autoScale": {"minimumNodeCount": 0, "maximumNodeCount": 3}},
                "nodeSetup": _SETUP,
            },
            ClusterFacts(frozenset({"logs", "data"}), 3, 2, 112 * 1024, size="STANDARD_NC12"),
        ),
        (
            {
                "vmSize": "Standard_NC24rs_v3",
                "vmPriority": "lowpriority",
                "scaleSettings": {"manual": {"targetNodeCount": 2}},
            },
            ClusterFacts(frozenset(), 2, 4, 448 * 1024, size="Standard_NC24rs_v3", priority="lowpriority"),
        ),
        ({"vmSize": "Standard_D2_v3", "nodeSetup": None}, ClusterFacts(frozenset(), size="Standard_D2_v3")),
        ({"nodeSetup": _SETUP | {"setupTask": {"commandLine": "mount x"}}}, ClusterFacts()),
    ],
)
def test_nodes_mounts_and_hardware_are_in_the_resource(
    properties: dict[str, Any], facts: ClusterFacts
) -> None:
    assert facts_of(properties) == facts
