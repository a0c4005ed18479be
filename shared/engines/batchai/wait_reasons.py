"""Why a job of Batch AI waits. Its resource does not show this, so it is derived from the cluster's. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from shared.core.engine import ClusterView, Observation, Why, too_large
from shared.core.job import JobState
from shared.engines import untrusted
from shared.jobspec import JsonObject

#: A job resource, and the observation made from it.
ObservedJob = tuple[JsonObject, Observation]


def youngest(jobs: Iterable[ObservedJob], now: datetime) -> float | None:
    """Seconds since the last queued job entered the queue; None if no job is queued.

    An older view cannot explain these jobs: a job that was requeued still had its nodes then.
    """
    # Jobs that were queued together have the same text.
    queued = (_properties(job) for job, observation in jobs if observation.state is JobState.QUEUED)
    entered = (properties.get("executionStateTransitionTime") for properties in queued)
    texts = {text if isinstance(text, str) else None for text in entered}
    if not texts:
        return None
    moments = map(untrusted.moment, texts)
    ages = [(now - moment).total_seconds() for moment in moments if moment is not None]
    return max(0.0, min(ages, default=math.inf))


def explained(jobs: Iterable[ObservedJob], view: ClusterView | None) -> list[Observation]:
    """The observation of each job; queued ones with the reason why they wait."""
    if view is None:
        return [observation for _, observation in jobs]
    reasons: dict[int, Why | None] = {}

    def with_reason(job: JsonObject, observation: Observation) -> Observation:
        nodes = _properties(job).get("nodeCount")
        if observation.state is not JobState.QUEUED or not isinstance(nodes, int):
            return observation
        if nodes not in reasons:
            reasons[nodes] = why(nodes, view)
        return observation._replace(why=reasons[nodes])

    return [with_reason(job, observation) for job, observation in jobs]


def _properties(job: JsonObject) -> JsonObject:
    return job.get("properties") or {}


def why(nodes: Any, view: ClusterView | None) -> Why | None:
    """Why a queued job with this many nodes waits; None while nothing is known about its cluster."""
    if view is None or not isinstance(nodes, int):
        return None
    if never := too_large(nodes, view):
        return Why("TooManyNodes", never, never=True)
    if view.counts.get("idle", 0) >= nodes:
        text = f"enough nodes of the cluster {view.name} are idle, but jobs before it may need more"
        return Why("InTurn", text, passes=True)
    if view.errors:
        return Why("ClusterErrors", f"the cluster {view.name} reports: {view.errors[0]}")
    return _comes(nodes, view)


def _comes(nodes: int, view: ClusterView) -> Why:
    """Why a job waits whose nodes are missing or in use, but may become available."""
    counts = view.counts
    if view.state == "resizing":
        return Why("Resizing", f"the cluster {view.name} is changing the number of its nodes", passes=True)
    if counts.get("preparing", 0):
        return Why("NodesPreparing", f"nodes of the cluster {view.name} are being prepared", passes=True)
    if counts.get("unusable", 0):
        return Why("NodesUnusable", f"nodes of the cluster {view.name} are unusable")
    # The total number of nodes includes leaving and preempted ones, which no state counts.
    if counts.get("idle", 0) + counts.get("running", 0) < nodes:
        return Why("NodesMissing", f"the cluster {view.name} has not enough nodes yet", passes=True)
    return Why("NodesBusy", f"the nodes of the cluster {view.name} are busy with other jobs", passes=True)
