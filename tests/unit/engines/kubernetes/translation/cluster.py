"""Jobs and pods as a cluster shows them, for tests of what is read from them."""

from __future__ import annotations

from typing import Any

CREATED = "2026-11-22T02:48:40Z"
ENDED = "2026-11-22T02:49:00Z"


def mark(kind: str, reason: str = "", message: str = "", status: str = "True", at: str = ENDED) -> Any:
    """One condition."""
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}


def job(*marks: Any, annotations: Any = None, **status: Any) -> Any:
    return {
        "metadata": {"name": "a", "creationTimestamp": CREATED, "annotations": annotations or {}},
        "status": {"startTime": CREATED, "conditions": list(marks), **status},
    }


def pod(phase: str, *marks: Any, deleted: str = "", **state: Any) -> Any:
    """A pod of one container; `state` is that of the container: running, waiting or terminated."""
    metadata = {"name": "a-0-x", **({"deletionTimestamp": deleted} if deleted else {})}
    containers = [{"name": "main", "state": state}] if state else []
    status = {"phase": phase, "conditions": list(marks), "containerStatuses": containers}
    return {"metadata": metadata, "status": {**status, "startTime": CREATED} if state else status}


def stopped(code: int, reason: str = "Error", at: str = ENDED) -> Any:
    """The state of a container that ended."""
    return {"exitCode": code, "reason": reason, "startedAt": CREATED, "finishedAt": at}
