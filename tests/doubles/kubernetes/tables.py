"""Lists as tables: the columns of `kubectl get`."""

from __future__ import annotations

from typing import Any

from tests.doubles.kubernetes.conditions import holds
from tests.doubles.kubernetes.object_store import Object

_COLUMNS = {
    "jobs": ("Name", "Status", "Completions", "Duration", "Age", "Containers", "Images", "Selector"),
    "pods": ("Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"),
    "nodes": ("Name", "Status", "Roles", "Age", "Version"),
}


def table(plural: str, objects: list[Object], metadata: dict[str, Any], form: str, *, is_old: bool) -> Any:
    """The table; `form` is the object in each row: None, Metadata or Object."""
    names = [
        one for one in _COLUMNS.get(plural, ("Name", "Age")) if one != "Status" or not _lacks(plural, is_old)
    ]
    rows = []
    for one in objects:
        words = _words(plural, one)
        row: dict[str, Any] = {"cells": [words.get(name, "<none>") for name in names], "object": None}
        if form == "Metadata":
            kind = "PartialObjectMetadata"
            row["object"] = {"kind": kind, "apiVersion": "meta.k8s.io/v1", "metadata": one["metadata"]}
        rows.append(row)
    columns = [
        {"name": name, "type": "string", "format": "", "description": "", "priority": 0} for name in names
    ]
    head = {"kind": "Table", "apiVersion": "meta.k8s.io/v1"}
    return {**head, "metadata": metadata, "columnDefinitions": columns, "rows": rows}


def _lacks(plural: str, is_old: bool) -> bool:
    return plural == "jobs" and is_old


def _words(plural: str, document: Object) -> dict[str, str]:
    name = document["metadata"]["name"]
    if plural == "jobs":
        done = document["status"].get("succeeded") or 0
        return {
            "Name": name,
            "Status": _job(document),
            "Completions": f"{done}/{document['spec']['completions']}",
        }
    if plural == "pods":
        return {"Name": name, "Status": _pod(document), "Node": document["spec"].get("nodeName", "<none>")}
    if plural == "nodes":
        word = "Ready" if holds(document, "Ready") else "NotReady"
        return {
            "Name": name,
            "Status": word + (",SchedulingDisabled" * bool(document["spec"].get("unschedulable"))),
        }
    return {"Name": name}


def _job(job: Object) -> str:
    for kind, word in (("Complete", "Complete"), ("Failed", "Failed")):
        if holds(job, kind):
            return word
    if "deletionTimestamp" in job["metadata"]:
        return "Terminating"
    words = ("Suspended", "FailureTarget", "SuccessCriteriaMet")
    return next((kind for kind in words if holds(job, kind)), "Running")


def _pod(pod: Object) -> str:
    word = str(pod["status"].get("reason") or pod["status"]["phase"])
    if first := _first(pod):
        return "Terminating" if "deletionTimestamp" in pod["metadata"] else first
    for container in pod["status"].get("containerStatuses") or ():
        state = container["state"]
        word = (state.get("waiting") or state.get("terminated") or {}).get("reason") or word
    return "Terminating" if "deletionTimestamp" in pod["metadata"] else word


def _first(pod: Object) -> str:
    """The word of a pod whose first containers have not all ended well; "" for any other."""
    statuses = pod["status"].get("initContainerStatuses") or ()
    for number, container in enumerate(statuses):
        state = container["state"]
        ended = state.get("terminated")
        if ended and not ended["exitCode"]:
            continue
        reason = (ended or state.get("waiting") or {}).get("reason")
        is_plain = reason in (None, "PodInitializing")
        return f"Init:{number}/{len(statuses)}" if is_plain else f"Init:{reason}"
    return ""
