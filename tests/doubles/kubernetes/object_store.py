"""The objects of the server, with their versions."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from tests.doubles.kubernetes.errors import absent, already_exists

Object = dict[str, Any]

#: Plural → kind, group, version and scope.
KINDS: dict[str, dict[str, str]] = {
    plural: {"plural": plural, "kind": kind, "group": group, "version": version, "scope": scope}
    for plural, kind, group, version, scope in (
        ("jobs", "Job", "batch", "v1", "namespace"),
        ("pods", "Pod", "", "v1", "namespace"),
        ("services", "Service", "", "v1", "namespace"),
        ("secrets", "Secret", "", "v1", "namespace"),
        ("configmaps", "ConfigMap", "", "v1", "namespace"),
        ("events", "Event", "", "v1", "namespace"),
        ("resourcequotas", "ResourceQuota", "", "v1", "namespace"),
        ("serviceaccounts", "ServiceAccount", "", "v1", "namespace"),
        ("roles", "Role", "rbac.authorization.k8s.io", "v1", "namespace"),
        ("rolebindings", "RoleBinding", "rbac.authorization.k8s.io", "v1", "namespace"),
        ("nodes", "Node", "", "v1", "cluster"),
        ("namespaces", "Namespace", "", "v1", "cluster"),
        ("priorityclasses", "PriorityClass", "scheduling.k8s.io", "v1", "cluster"),
        ("workloads", "Workload", "kueue.x-k8s.io", "v1beta2", "namespace"),
        ("localqueues", "LocalQueue", "kueue.x-k8s.io", "v1beta2", "namespace"),
        ("clusterqueues", "ClusterQueue", "kueue.x-k8s.io", "v1beta2", "cluster"),
        ("resourceflavors", "ResourceFlavor", "kueue.x-k8s.io", "v1beta2", "cluster"),
        ("workloadpriorityclasses", "WorkloadPriorityClass", "kueue.x-k8s.io", "v1beta2", "cluster"),
    )
}


def written(seconds: float) -> str:
    """Unix time in the format of objects."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Store:
    """The objects. Callers get them, not copies, and must call `touch` after a change.

    `clock` gives Unix time.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self._objects: dict[tuple[str, str, str], Object] = {}
        self.version = 100

    def now(self) -> str:
        """The time in the format of objects."""
        return written(self.clock())

    def add(self, plural: str, namespace: str, document: Object) -> Object:
        kind, metadata = KINDS[plural], document["metadata"]
        key = (plural, namespace, metadata["name"])
        if key in self._objects:
            is_ending = "deletionTimestamp" in self._objects[key]["metadata"]
            raise already_exists(kind, metadata["name"], is_ending=is_ending)
        version = f"{kind['group']}/{kind['version']}" if kind["group"] else kind["version"]
        own = {"kind": kind["kind"], "apiVersion": version, **document}
        own["metadata"] = {**metadata, "uid": str(uuid.uuid4()), "creationTimestamp": self.now()}
        if kind["scope"] == "namespace":
            own["metadata"]["namespace"] = namespace
        self._objects[key] = own
        self.touch(own)
        return own

    def touch(self, document: Object) -> None:
        """Give a changed object the next version."""
        self.version += 1
        document["metadata"]["resourceVersion"] = str(self.version)

    def find(self, plural: str, namespace: str, name: str) -> Object | None:
        return self._objects.get((plural, namespace, name))

    def get(self, plural: str, namespace: str, name: str) -> Object:
        document = self.find(plural, namespace, name)
        if document is None:
            raise absent(KINDS[plural], name)
        return document

    def all(self, plural: str, namespace: str | None = None) -> list[Object]:
        """The objects in order of name, as in lists."""
        keys = [key for key in self._objects if key[0] == plural and namespace in (None, key[1])]
        return [self._objects[key] for key in sorted(keys)]

    def remove(self, plural: str, document: Object) -> None:
        metadata = document["metadata"]
        if self._objects.pop((plural, metadata.get("namespace", ""), metadata["name"]), None) is not None:
            self.touch(document)

    def owned(self, owner: Object) -> Iterator[tuple[str, Object]]:
        """The objects that this one owns."""
        uid = owner["metadata"]["uid"]
        for (plural, _, _), one in list(self._objects.items()):
            if any(ref.get("uid") == uid for ref in one["metadata"].get("ownerReferences") or ()):
                yield plural, one

    def event(self, about: Object, reason: str, message: str) -> None:
        """Record an event; a repeated one increases the count of the same object."""
        metadata = about["metadata"]
        for one in self.all("events", metadata["namespace"]):
            same = one["involvedObject"]["uid"] == metadata["uid"] and one["reason"] == reason
            if same and one["message"] == message:
                one |= {"count": one["count"] + 1, "lastTimestamp": self.now()}
                return
        involved = {"kind": about["kind"], **{k: metadata[k] for k in ("namespace", "name", "uid")}}
        document = {
            "metadata": {"name": f"{metadata['name']}.{uuid.uuid4().hex[:16]}"},
            "involvedObject": {**involved, "apiVersion": about["apiVersion"]},
            "reason": reason,
            "message": message,
            "source": {"component": "job-controller"},
            "firstTimestamp": self.now(),
            "lastTimestamp": self.now(),
            "count": 1,
            "type": "Warning" if reason.startswith("Failed") else "Normal",
        }
        self.add("events", metadata["namespace"], document)
