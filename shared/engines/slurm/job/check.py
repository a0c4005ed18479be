"""The fields of a job.json that a Slurm cluster cannot honour, with reasons, at acceptance. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from shared.core.refusals import refused
from shared.engines.launch.mount_checks import mount_refusals, vault_refusals
from shared.engines.launch.mounts import image_of
from shared.engines.launch.size import size_refusals
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.job.resources import may_share
from shared.engines.slurm.job.site import site
from shared.jobspec import Problem

#: Variables by which a job would use other jobs' GPUs, if nothing else prevents it.
_DEVICES = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK")


def check(cluster: SlurmCluster, properties: Mapping[str, Any]) -> Iterator[Problem]:
    """Every problem. Other fields are honoured: see the table in docs/reference/engines.md."""
    yield from mount_refusals(cluster.name, cluster.mounts, properties)
    yield from _container(cluster, properties)
    yield from _variables(cluster, properties)
    yield from vault_refusals(properties)
    priority = properties.get("schedulingPriority")
    if priority not in (None, "normal", *cluster.priorities):
        yield _refused(
            "/schedulingPriority",
            f"no priorities are configured for the cluster {cluster.name}, so {priority} means nothing there",
            "leave it out, or ask the operator for `priorities`",
        )
    yield from size_refusals("Slurm", properties, partial(site, cluster))


def _container(cluster: SlurmCluster, properties: Mapping[str, Any]) -> Iterator[Problem]:
    settings = properties.get("containerSettings")
    if not settings:
        return
    at = "/containerSettings"
    if not cluster.container:
        text = f"the cluster {cluster.name} runs no containers"
        yield _refused(at, text, "leave it out to run on the node itself, or choose another cluster")
        return
    if settings["imageSourceRegistry"].get("credentials"):
        text = "the nodes log in to registries by themselves"
        yield _refused(f"{at}/imageSourceRegistry/credentials", text, "leave it out")
    if settings.get("shmSize"):
        yield _refused(f"{at}/shmSize", "containers there share /dev/shm with their node", "leave it out")
    if cluster.container == "oci" and (image := image_of(properties)) not in cluster.bundles:
        text = f"the nodes of {cluster.name} lack a bundle of {image}; an operator adds it to `bundles`"
        remedy = f"use an image that is there: {', '.join(cluster.bundles) or 'none'}"
        yield _refused(f"{at}/imageSourceRegistry/image", text, remedy)
    if properties.get("jobPreparation") and cluster.container in ("apptainer", "oci"):
        text = "every process there gets a fresh container, so what a preparation installs would be gone"
        yield _refused("/jobPreparation", text, "put it into the image, or into the command itself")
    if properties.get("customToolkitSettings") and properties["nodeCount"] > 1:
        text = "a command within a container cannot start processes on other nodes"
        yield _refused("/customToolkitSettings", text, "use customMpiSettings, or one node")


def _variables(cluster: SlurmCluster, properties: Mapping[str, Any]) -> Iterator[Problem]:
    for kind in ("environmentVariables", "secrets"):
        for index, variable in enumerate(properties.get(kind) or ()):
            at = f"/{kind}/{index}"
            if variable["name"].startswith(("SLURM_", "SLURMD_")):
                text = "Slurm's own variables decide how the job is started"
                yield _refused(f"{at}/name", text, "give it another name")
            if variable["name"] in _DEVICES and may_share(cluster):
                text = f"nodes of {cluster.name} are shared, and Slurm says which GPUs a job has there"
                yield _refused(f"{at}/name", text, "leave it out")


def _refused(pointer: str, message: str, remedy: str) -> Problem:
    return refused("SW109", f"/properties{pointer}", message, remedy)
