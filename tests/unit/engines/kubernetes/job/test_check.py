"""What a cluster on Kubernetes cannot honour, and where that stands in a job.json."""

from __future__ import annotations

from typing import Any

import pytest

from shared.engines.kubernetes.job.check import check
from tests.unit.engines.kubernetes.job.job_goldens import CLUSTER, EVERYTHING, WIDE, order

_REGISTRY = {
    "image": "a",
    "credentials": {"username": "u", "passwordSecretReference": {"secretUrl": "https://x"}},
}


def pointers(cluster: Any, **properties: Any) -> list[str]:
    return [one.pointer for one in check(cluster, order(**properties).document["properties"])]


def test_everything_that_the_cluster_is_set_up_for_is_honoured() -> None:
    assert pointers(WIDE, **EVERYTHING) == []


@pytest.mark.parametrize(
    ("properties", "pointer"),
    [
        ({"mountVolumes": EVERYTHING["mountVolumes"]}, "/mountVolumes/azureFileShares/0"),
        ({"schedulingPriority": "high"}, "/schedulingPriority"),
        ({"secrets": [{"name": "AZ_BATCH_NODE_ID", "value": "x"}]}, "/secrets/0/name"),
        (
            {"environmentVariables": [{"name": "JOB_COMPLETION_INDEX", "value": "1"}]},
            "/environmentVariables/0/name",
        ),
        (
            {"secrets": [{"name": "A", "valueSecretReference": {"secretUrl": "https://x"}}]},
            "/secrets/0/valueSecretReference",
        ),
        (
            {"containerSettings": {"imageSourceRegistry": _REGISTRY}},
            "/containerSettings/imageSourceRegistry/credentials/passwordSecretReference",
        ),
        ({"customToolkitSettings": {"commandLine": "x" * 50_000}}, ""),
    ],
)
def test_what_it_cannot_honour_is_named_where_it_stands(properties: Any, pointer: str) -> None:
    assert pointers(CLUSTER, **properties) == [f"/properties{pointer}"]
