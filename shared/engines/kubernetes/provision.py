"""Creates or corrects what a cluster on Kubernetes needs before its first job, as an administrator.

Namespace, service account, the smallest Role, a quota, with Kueue a LocalQueue, and where people may enter
jobs a Role for them. An administrator creates the volumes, and says who has that Role.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from shared.core.engine import Submission
from shared.core.errors import EngineError, Misconfigured
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.job.request import MANAGED
from shared.engines.kubernetes.rights import ENTERING, rules, rules_of
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.kubernetes.wire.compare import dropped
from shared.engines.kubernetes.wire.shapes import GROUP, NAMED, checked
from shared.engines.kubernetes.workloads import NO_GROUP
from shared.engines.provisioning import Stage, Step

#: The name of the service account, its Role and the quota, in every namespace.
NAME = "slipway"
#: The Role of people who enter jobs.
ENTER = "slipway-enter"
#: Jobs of a namespace, including those that have ended and are not archived yet. Stops a program that creates
#: Jobs without end.
_MOST = 100_000
_RBAC, _KUEUE = "rbac.authorization.k8s.io", "kueue.x-k8s.io"


def provision(cluster: KubernetesCluster, client: KubernetesClient) -> Iterator[Stage]:
    """Create missing objects, and correct those that differ."""
    place = f"SLIPWAY_KUBECONFIGS: {cluster.name}, which names an administrator here"
    yield Stage("the API server", place, _steps(cluster, client))


def objects(cluster: KubernetesCluster) -> tuple[Submission, ...]:
    """The objects of a cluster, in the order of creation. Pure."""
    core = f"/api/v1/namespaces/{cluster.namespace}"
    roles = f"/apis/{_RBAC}/v1/namespaces/{cluster.namespace}"
    account = {"kind": "ServiceAccount", "name": NAME, "namespace": cluster.namespace}
    role = {"apiGroup": _RBAC, "kind": "Role", "name": NAME}
    objects = (
        ("/api/v1/namespaces", _object("Namespace", "v1", cluster.namespace)),
        (f"{core}/serviceaccounts", _object("ServiceAccount", "v1", NAME)),
        (f"{roles}/roles", _object("Role", f"{_RBAC}/v1", NAME, rules=rules(cluster))),
        (
            f"{roles}/rolebindings",
            _object("RoleBinding", f"{_RBAC}/v1", NAME, roleRef=role, subjects=[account]),
        ),
        (
            f"{core}/resourcequotas",
            _object("ResourceQuota", "v1", NAME, spec={"hard": {"count/jobs.batch": str(_MOST)}}),
        ),
    )
    for_people = _object("Role", f"{_RBAC}/v1", ENTER, rules=rules_of(ENTERING))
    more = [(f"{roles}/roles", for_people)] if cluster.enter else []
    return tuple(Submission("POST", path, body) for path, body in (*objects, *more))


async def _steps(cluster: KubernetesCluster, client: KubernetesClient) -> AsyncIterator[Step]:
    try:
        for one in objects(cluster):
            yield await _make(client, one.path, one.body)
        if cluster.queue:
            yield await _queue(cluster, client)
    finally:
        await client.close()


async def _make(client: KubernetesClient, path: str, body: Mapping[str, Any]) -> Step:
    kind, name = str(body["kind"]), str(body["metadata"]["name"])
    try:
        answer = await client.call("POST", path, body, accept=("AlreadyExists",))
        if not answer.reason:
            return Step(kind, name, created=True)
        existing = (await client.call("GET", f"{path}/{name}")).body
        if not list(dropped(body, existing)):
            return Step(kind, name, created=False)
        await client.call("PATCH", f"{path}/{name}", body)
    except Misconfigured as error:
        # The account for jobs may neither do this nor check whether an administrator did: report it, go on.
        return Step(
            kind,
            name,
            created=False,
            note=f"not created: {error}; if it is missing, an administrator has to create it",
        )
    return Step(kind, name, created=False, note="it differed from what is needed, and was changed")


async def _queue(cluster: KubernetesCluster, client: KubernetesClient) -> Step:
    """The LocalQueue for the only ClusterQueue. If there are several, an administrator chooses."""
    try:
        group = await client.call("GET", f"/apis/{_KUEUE}", accept=NO_GROUP)
        if group.reason:
            return _skipped("Kueue is not installed on this cluster")
        preferred = checked(group.body, GROUP, "Kueue").get("preferredVersion") or {}
        version = preferred.get("groupVersion") or f"{_KUEUE}/v1beta1"
        path = f"/apis/{version}/namespaces/{cluster.namespace}/localqueues"
        existing = await client.call("GET", f"{path}/{cluster.queue}", accept=("NotFound",))
        if not existing.reason:
            return Step("LocalQueue", cluster.queue, created=False)
        listed = client.objects(f"/apis/{version}/clusterqueues")
        queues = [checked(one, NAMED, "a ClusterQueue") async for one in listed]
    except EngineError as error:
        return _skipped(str(error), cluster.queue)
    if len(queues) != 1:
        return _skipped(f"it needs exactly one ClusterQueue, and there are {len(queues)}", cluster.queue)
    spec = {"clusterQueue": queues[0]["metadata"]["name"]}
    return await _make(client, path, _object("LocalQueue", version, cluster.queue, spec=spec))


def _skipped(why: str, name: str = "") -> Step:
    return Step("LocalQueue", name, created=False, note=f"not created: {why}")


def _object(kind: str, version: str, name: str, **members: Any) -> dict[str, Any]:
    metadata = {"name": name, "labels": dict(MANAGED)}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **members}
