"""Conditions of an object's status."""

from __future__ import annotations

import time
from typing import Any

from tests.doubles.kubernetes.object_store import written


def holds(document: dict[str, Any], kind: str) -> bool:
    """Whether the object has this condition with the status True."""
    listed = document["status"].get("conditions") or ()
    return any(one["type"] == kind and one["status"] == "True" for one in listed)


def put(
    document: dict[str, Any], kind: str, reason: str, message: str, *, is_true: bool = True, at: str = ""
) -> bool:
    """Set a condition, at a time or now; returns whether that changed anything."""
    moment = at or written(time.time())
    listed = document["status"].setdefault("conditions", [])
    word = "True" if is_true else "False"
    target = {"type": kind, "status": word, "reason": reason, "message": message}
    for one in listed:
        if one["type"] == kind:
            if all(one.get(name) == value for name, value in target.items()):
                return False
            moved = {} if one["status"] == word else {"lastTransitionTime": moment}
            one.update({**target, **moved})
            return True
    listed.append({**target, "lastProbeTime": moment, "lastTransitionTime": moment})
    return True
