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
    cluster = _named(ports, request)
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


def _named(ports: Ports, request: Request) -> Cluster | None:
    written, own = cluster_member(request), ports.policy.completion
    if written is None and request.envelope.cluster is None and own.cluster_id is not None:
        return _by_id(ports, own.cluster_id)  # as completion fills it in
    completed, _ = complete({"properties": {"cluster": written}}, own, cluster=request.envelope.cluster)
    return cluster_of(ports, completed)


def cluster_of(ports: Ports, document: Any) -> Cluster | None:
    """The configured cluster that a completed document names; validation reports an unknown one."""
    cluster_id = Node("", document).member("properties", "cluster", "id").text
    return None if cluster_id is None else _by_id(ports, cluster_id)


def _by_id(ports: Ports, cluster_id: str) -> Cluster | None:
    clusters = ports.engines.clusters.values()
    name = cluster_id.lower()
    return next((cluster for cluster in clusters if cluster.id.lower() == name), None)


def cluster_member(request: Request) -> Any:
    """The cluster in its document; None if it names none."""
    properties = (request.document or {}).get("properties")
    return properties.get("cluster") if isinstance(properties, dict) else None
