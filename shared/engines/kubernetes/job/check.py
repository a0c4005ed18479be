"""The fields of a job.json that a cluster on Kubernetes cannot honour, with reasons. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from shared.core.refusals import refused
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.job.pod import credentials
from shared.engines.kubernetes.job.site import site
from shared.engines.launch.mount_checks import mount_refusals, vault_refusals
from shared.engines.launch.size import size_refusals
from shared.jobspec import Problem

#: Reserved variables: they give the rank's position and its programs.
_PREFIXES, _INDEX = ("AZ_BATCH_", "KUBERNETES_"), "JOB_COMPLETION_INDEX"


def check(cluster: KubernetesCluster, properties: Mapping[str, Any]) -> Iterator[Problem]:
    """Every problem. Other fields are honoured."""
    yield from mount_refusals(cluster.name, cluster.mounts, properties)
    yield from vault_refusals(properties)
    if credentials(properties).get("passwordSecretReference"):
        at = "/containerSettings/imageSourceRegistry/credentials/passwordSecretReference"
        text = "the pods lack an identity that may read a Key Vault"
        yield _refused(at, text, "give the password, which is kept sealed")
    for kind in ("environmentVariables", "secrets"):
        for index, variable in enumerate(properties.get(kind) or ()):
            name = variable["name"]
            if name == _INDEX or name.startswith(_PREFIXES):
                text = "the cluster sets this variable itself, to say where the job runs"
                yield _refused(f"/{kind}/{index}/name", text, "give it another name")
    priority = properties.get("schedulingPriority")
    if priority not in (None, "normal", *cluster.priorities):
        text = f"the cluster {cluster.name} does not have a class for the priority {priority}"
        yield _refused("/schedulingPriority", text, "leave it out, or ask the operator for `priorities`")
    yield from size_refusals("Kubernetes", properties, partial(site, cluster))


def _refused(pointer: str, message: str, remedy: str) -> Problem:
    return refused("SW109", f"/properties{pointer}", message, remedy)
