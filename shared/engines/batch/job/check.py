"""The fields of a job.json that a cluster on Azure Batch cannot honour, with reasons. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from shared.core.refusals import refused
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.job.site import site
from shared.engines.launch.mount_checks import mount_refusals, vault_refusals
from shared.engines.launch.size import size_refusals
from shared.jobspec import Problem

#: The variable with a directory that all nodes of a job share.
_SHARED = "AZ_BATCHAI_SHARED_JOB_TEMP"

#: Variables that would make the container client leave the node.
_OF_DOCKER = ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG")


def check(cluster: BatchCluster, properties: Mapping[str, Any]) -> Iterator[Problem]:
    """Every problem. Other fields are honoured: see the table in docs/reference/engines.md."""
    yield from mount_refusals(cluster.name, cluster.mounts, properties, itself=True)
    yield from _container(cluster, properties)
    yield from _variables(properties)
    yield from vault_refusals(properties)
    text = json.dumps(properties)
    if cluster.blobs and properties["nodeCount"] > 1 and _SHARED in text:
        remedy = f"share files by a mount instead of ${_SHARED}, or run on one node"
        yield _refused("/nodeCount", f"the nodes of {cluster.name} share no directory", remedy)
    yield from size_refusals("Azure Batch", properties, partial(site, cluster))


def _container(cluster: BatchCluster, properties: Mapping[str, Any]) -> Iterator[Problem]:
    settings = properties.get("containerSettings")
    if not settings:
        return
    if not cluster.container:
        text = f"the cluster {cluster.name} runs no containers"
        remedy = "leave it out to run on the node itself, or choose another cluster"
        yield _refused("/containerSettings", text, remedy)
        return
    credentials = settings["imageSourceRegistry"].get("credentials") or {}
    if credentials.get("passwordSecretReference"):
        at = "/containerSettings/imageSourceRegistry/credentials/passwordSecretReference"
        text = "the nodes lack an identity that may read a Key Vault"
        yield _refused(at, text, "give the password, which is kept sealed")
    if properties.get("customToolkitSettings") and properties["nodeCount"] > 1:
        text = "a command within a container cannot start processes on other nodes"
        yield _refused("/customToolkitSettings", text, "use customMpiSettings, or one node")


def _variables(properties: Mapping[str, Any]) -> Iterator[Problem]:
    for kind in ("environmentVariables", "secrets"):
        for index, variable in enumerate(properties.get(kind) or ()):
            if variable["name"].startswith("AZ_BATCH_"):
                text = "the service's own variables say where the job runs"
                yield _refused(f"/{kind}/{index}/name", text, "give it another name")
            if variable["name"] in _OF_DOCKER and properties.get("containerSettings"):
                text = "with this variable the node would look for the job's container elsewhere"
                yield _refused(f"/{kind}/{index}/name", text, "set it in the job's command")


def _refused(pointer: str, message: str, remedy: str) -> Problem:
    return refused("SW109", f"/properties{pointer}", message, remedy)
