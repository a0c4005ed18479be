"""Answers about clusters: their nodes, what they can do, and what was noted of them."""

from __future__ import annotations

from typing import Literal

from shared.answers.base import Answer, Time


class ClusterNode(Answer):
    """A node, and its state in the engine's words."""

    name: str
    state: str


class Facts(Answer):
    """What the jobs of a cluster can rely on; null if it is not known."""

    mounted: tuple[str, ...] | None
    max_nodes: int | None
    gpus: int | None
    node_memory: int | None
    """In MiB, of one node."""
    max_wall_clock: str | None
    """ISO 8601 duration."""


class Capability(Answer):
    """Whether an engine supports something; `configured` means: if its cluster is set up for it."""

    answer: Literal["yes", "configured", "no"]
    note: str


class NodeHistory(Answer):
    """The nodes of a cluster over time; each point holds until the next, for ten minutes at most."""

    states: tuple[str, ...]
    points: tuple[tuple[int | None, ...], ...]
    """Seconds since 1970, then the number of nodes in each state; null if the cluster did not answer."""


class FreeGpus(Answer):
    """The GPUs of the nodes that jobs can use now."""

    free: int
    """Those that no job has; of nodes that jobs share on Azure Batch, only whole free nodes count."""
    all: int


class ClusterState(Answer):
    """A cluster as it is now."""

    name: str
    engine: str
    state: str
    nodes: int
    counts: dict[str, int]
    """Nodes by state."""
    minimum: int | None
    maximum: int | None
    size: str
    errors: tuple[str, ...]
    priority: str
    members: tuple[ClusterNode, ...]
    """The nodes one by one; empty if the engine only counts them."""
    facts: Facts
    gpus: FreeGpus | None = None
    """Missing where the engine does not show them, or there are none."""
    capabilities: dict[str, Capability]
    history: NodeHistory | None = None
    """Where it was asked for."""


class SilentCluster(Answer):
    """A cluster that cannot be queried, with the reason."""

    name: str
    error: str
    since: Time | None = None
    """Since when the background passes have had no answer either, if one has asked recently."""
    history: NodeHistory | None = None
    """Where it was asked for."""


class ClusterList(Answer):
    """Every configured cluster: its state, or why it does not answer."""

    clusters: tuple[ClusterState | SilentCluster, ...]
