"""Pods on nodes that do not answer: since when, and which others of their Job still run. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from shared.core.engine import Why
from shared.engines import untrusted
from shared.engines.kubernetes.translation.conditions import condition, conditions
from shared.engines.saving import saving

Objects = Sequence[Mapping[str, Any]]

#: The annotation of a Job whose attempt was given up: nothing of it may start again.
GIVEN_UP = "slipway/given-up"
#: The annotation with the reason, where that is not its node.
WHY = "slipway/why"
#: How long a Job may be ending before its node counts as lost. Kubernetes gives a node up after 5 minutes by
#: default.
LOST_AFTER = timedelta(minutes=10)
#: Why Kubernetes gave up the pods of a node.
_SILENT = "DeletionByTaintManager"


def was_given_up(job: Mapping[str, Any]) -> bool:
    """Whether Slipway gave its attempt up."""
    return GIVEN_UP in ((job.get("metadata") or {}).get("annotations") or {})


def ending_since(job: Mapping[str, Any], pods: Objects) -> datetime | None:
    """Since when its pods should be gone. Those of a dead node stay until the node is removed."""
    times = [moment for pod in pods if (moment := _due(pod)) is not None]
    if (job.get("status") or {}).get("terminating"):
        target = condition(job, "FailureTarget")
        times += filter(None, [untrusted.moment((target or {}).get("lastTransitionTime"))])
    return min(times, default=None)


def has_others(pods: Objects, now: datetime, lost_after: timedelta) -> bool:
    """Whether there are pods on nodes that answer, beside those that never go away."""
    return any(_lives(pod) and not _hangs(pod, now, lost_after) for pod in pods)


def silence(pods: Objects, now: datetime) -> Why | None:
    """What a running attempt has to wait for whose node does not answer; None for any other."""
    # While its node answers, a pod that a taint drives away may save.
    silent = [pod for pod in pods if _is_silent(pod) and (_is_unready(pod) or (_due(pod) or now) < now)]
    if not silent:
        return None
    pod = min(silent, key=lambda one: _due(one) or now)
    node = str((pod.get("spec") or {}).get("nodeName") or "its node")
    since, until = _silent_since(pod), (_due(pod) or now) + LOST_AFTER
    text = f"{node} has not answered" + (f" since {since:%H:%M:%S} UTC" if since is not None else "")
    if now >= until:
        return Why("NodeSilent", f"{text}; the attempt is given up, and its other pods are being ended")
    return Why("NodeSilent", f"{text}; the attempt is given up at {until:%H:%M} UTC if that stays so")


def leaves(pods: Objects, now: datetime) -> Why | None:
    """What a running attempt has to wait for of which a pod is evicted, and saves; None for any other."""
    times = [due for pod in pods if _lives(pod) and (due := _due(pod)) is not None and due >= now]
    return saving(min(times)) if times else None


def _is_silent(pod: Mapping[str, Any]) -> bool:
    mark = condition(pod, "DisruptionTarget")
    return _lives(pod) and mark is not None and mark.get("reason") == _SILENT


def _is_unready(pod: Mapping[str, Any]) -> bool:
    """Whether Kubernetes calls the pod not ready for its node, and not for its containers."""
    ready = conditions(pod).get("Ready") or {}
    return ready.get("status") == "False" and (ready.get("reason") or "") in ("", "NodeNotReady")


def _silent_since(pod: Mapping[str, Any]) -> datetime | None:
    """Since when its node is silent: Kubernetes then calls the pod not ready."""
    ready = conditions(pod).get("Ready") or {}
    mark = ready if ready.get("status") == "False" else condition(pod, "DisruptionTarget")
    return untrusted.moment((mark or {}).get("lastTransitionTime"))


def _lives(pod: Mapping[str, Any]) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Pending", "Running")


def _hangs(pod: Mapping[str, Any], now: datetime, lost_after: timedelta) -> bool:
    moment = _due(pod)
    return moment is not None and now - moment > lost_after


def _due(pod: Mapping[str, Any]) -> datetime | None:
    """When a pod that was deleted should be gone."""
    return untrusted.moment((pod.get("metadata") or {}).get("deletionTimestamp"))
