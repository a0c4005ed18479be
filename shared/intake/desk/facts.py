"""facts: the cluster that a request is for, with its latest report about itself.

The engine caches the answers, so this queries a cluster now and then, not for each job.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shared.core.engine import Cluster
from shared.core.errors import Misconfigured
from shared.core.facts import combined_facts
from shared.core.ports import Ports
from shared.intake.message import Request
from shared.jobspec import Node, complete
from shared.lifecycle.clusters.calling import left_alone


async def cluster_for(ports: Ports, request: Request) -> Cluster | None:
    """The configured cluster that a request names, or the default one; None if it names an unknown one.

    For a cluster that does not answer, the configured facts count.
    """
    document = {"properties": {"cluster": cluster_member(request)}}
    completed, _ = complete(document, ports.policy.completion, cluster=request.envelope.cluster)
    cluster = cluster_of(ports, completed)
    if cluster is None or left_alone(ports, cluster.engine, cluster.name):
        return cluster
    resources = request.envelope.resources
    try:
        read = await ports.engines.get(cluster.engine).facts(
            cluster.name, resources.as_written() if resources else {}
        )
    except Misconfigured:  # the document is checked against that engine, which reports it
        return cluster
    return replace(cluster, facts=combined_facts(cluster.facts, read))


def cluster_of(ports: Ports, document: Any) -> Cluster | None:
    """The configured cluster that a completed document names; validation reports an unknown one."""
    cluster_id = Node("", document).member("properties", "cluster", "id").text
    if cluster_id is None:
        return None
    clusters = ports.engines.clusters.values()
    return next((cluster for cluster in clusters if cluster.id.lower() == cluster_id.lower()), None)


def cluster_member(request: Request) -> Any:
    """The cluster in its document; None if it names none."""
    properties = (request.document or {}).get("properties")
    return properties.get("cluster") if isinstance(properties, dict) else None
