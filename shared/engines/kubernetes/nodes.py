"""The nodes for the jobs of a cluster, from a list. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shared.core.engine import ClusterView, NodeView
from shared.core.facts import UNLISTED
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.wire.table import Row

_SPACE = ("idle", "running", "offline", "unusable")


def view(cluster: KubernetesCluster, nodes: Sequence[Row], pods: Sequence[Row]) -> ClusterView:
    """The cluster, from the rows of its nodes and of Slipway's pods on them."""
    busy = {row.words.get("Node", "") for row in pods if row.words.get("Status") == "Running"}
    members = tuple(NodeView(row.name, _state(row, busy)) for row in nodes)
    counts = Counter(one.state for one in members)
    return ClusterView(
        name=cluster.name,
        engine="kubernetes",
        state="steady",
        nodes=len(members),
        counts={state: counts.get(state, 0) for state in _SPACE},
        # An autoscaler may remove all of them and add others; the list does not show whether there is one.
        minimum=0,
        maximum=cluster.max_nodes or None,
        size="",
        members=members,
        facts=cluster.facts,
    )


def unseen(cluster: KubernetesCluster) -> ClusterView:
    """The cluster if Slipway's account may not list nodes, which belong to no namespace."""
    note = "its nodes cannot be listed: the account of Slipway may not, and jobs do not need it"
    return ClusterView(
        name=cluster.name,
        engine="kubernetes",
        state=UNLISTED,
        nodes=0,
        counts=dict.fromkeys(_SPACE, 0),
        minimum=0,
        maximum=cluster.max_nodes or None,
        size="",
        errors=(note,),
        facts=cluster.facts,
    )


def _state(row: Row, busy: set[str]) -> str:
    words = row.words.get("Status", "").split(",")
    if "Ready" not in words:
        return "unusable"
    if "SchedulingDisabled" in words:
        return "offline"
    return "running" if row.name in busy else "idle"
