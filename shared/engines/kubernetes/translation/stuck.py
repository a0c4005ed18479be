"""Pods that hold a node and its GPUs and cannot start: an image, a volume or an object is missing. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from shared.core.engine import Why
from shared.core.job import Reason
from shared.engines import untrusted
from shared.engines.kubernetes.translation.conditions import condition
from shared.engines.kubernetes.translation.wait_reasons import MAKING, pods_wait, warnings_wait

Objects = Sequence[Mapping[str, Any]]

#: How long a pod may hold its node without starting: a registry or a file server may be away for a while.
_LONGEST = timedelta(minutes=30)
#: How long a node may take to make a pod before its warnings are read.
_QUIET = timedelta(minutes=1)
#: Of images, which the job's author chose.
_IMAGES = frozenset(
    {
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ImageInspectError",
        "RegistryUnavailable",
        "SignatureValidationFailed",
    }
)
#: What a pod has come through, by the condition that says when.
_STEPS = ("PodScheduled", "PodReadyToStartContainers", "Initialized")


def warned_of(pods: Objects, now: datetime) -> str:
    """The name of a pod whose warnings explain what it waits for on its node; "" if none has to be read."""
    for pod in pods:
        why, since = pods_wait([pod]), _last_step(pod)
        if why is None or since is None:
            continue
        quiet = _QUIET if _is_being_made(pod, why) else _LONGEST
        if now - since > quiet:
            return str(pod["metadata"].get("name") or "")
    return ""


def stuck_why(pods: Objects, warnings: Objects) -> Why | None:
    """Why a pod is not made on its node, from its warnings; None if none of them says so."""
    waits = [(pod, pods_wait([pod])) for pod in pods]
    is_made = any(why is not None and _is_being_made(pod, why) for pod, why in waits)
    return warnings_wait(warnings) if is_made else None


def given_up(pods: Objects, warnings: Objects, now: datetime) -> str:
    """`REASON: why` an attempt is given up whose pod could not start for so long; "" for any other.

    The time counts from the last step that the pod made, and from the first of the warnings.
    """
    for pod in pods:
        why, step = stuck_why([pod], warnings) or pods_wait([pod]), _last_step(pod)
        if why is None or why.passes or step is None:
            continue
        since = max(step, _first(warnings) or step)
        if now - since > _LONGEST:
            reason = Reason.UNSUPPORTED if why.word in _IMAGES else Reason.INFRASTRUCTURE
            minutes = int(_LONGEST / timedelta(minutes=1))
            return f"{reason.value}: given up after {minutes} minutes on its node: {why.text}"
    return ""


def _is_being_made(pod: Mapping[str, Any], why: Why) -> bool:
    """Whether none of its containers has begun: the node makes its volumes and its network."""
    status = pod.get("status") or {}
    kinds = ("initContainerStatuses", "containerStatuses")
    states = [one.get("state") or {} for kind in kinds for one in status.get(kind) or ()]
    return why.word in MAKING and not any("running" in one or "terminated" in one for one in states)


def _last_step(pod: Mapping[str, Any]) -> datetime | None:
    """When the pod made its last step; None before it has a node."""
    if condition(pod, "PodScheduled") is None:
        return None
    steps = [(condition(pod, kind) or {}).get("lastTransitionTime") for kind in _STEPS]
    return max(filter(None, map(untrusted.moment, steps)), default=None)


def _first(warnings: Objects) -> datetime | None:
    times = [one.get("firstTimestamp") or one.get("eventTime") for one in warnings]
    return min(filter(None, map(untrusted.moment, times)), default=None)
