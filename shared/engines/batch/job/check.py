"""What a cluster on Azure Batch cannot honour of a job.json: each field with the reason. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from shared.core.refusals import refused
from shared.engines.batch.cluster import BatchCluster
from shared.engines.launch.mount_checks import mount_refusals, vault_refusals
from shared.jobspec import Problem

#: Bytes of a job.json that fit into one variable with the plan that is made of it; Linux allows 128 KiB.
_LARGEST = 48 * 1024


def check(cluster: BatchCluster, properties: Mapping[str, Any]) -> Iterator[Problem]:
    """Every problem. What is not named here is honoured: see the table in docs/reference/engines.md."""
    yield from mount_refusals(cluster.name, cluster.mounts, properties)
    if properties.get("containerSettings"):
        text = f"the cluster {cluster.name} runs no containers"
        remedy = "leave it out to run on the node itself, or choose another cluster"
        yield _refused("/containerSettings", text, remedy)
    yield from _variables(properties)
    yield from vault_refusals(properties)
    if len(json.dumps(properties)) > _LARGEST:
        text = f"a job for Azure Batch has at most {_LARGEST} bytes"
        yield _refused("", text, "move what is long into a script")


def _variables(properties: Mapping[str, Any]) -> Iterator[Problem]:
    for kind in ("environmentVariables", "secrets"):
        for index, variable in enumerate(properties.get(kind) or ()):
            if variable["name"].startswith("AZ_BATCH_"):
                text = "variables of the service's own say where the job runs"
                yield _refused(f"/{kind}/{index}/name", text, "give it another name")


def _refused(pointer: str, message: str, remedy: str) -> Problem:
    return refused("SW109", f"/properties{pointer}", message, remedy)
