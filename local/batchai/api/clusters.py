"""Operations on clusters."""

import uuid
from typing import Any

from aiohttp import web

from local.batchai.api.bodies import CLUSTER, CLUSTER_PATCH
from local.batchai.api.deletion import delete
from local.batchai.api.existing import MOST_CLUSTERS, check_quota, check_same, clusters_in
from local.batchai.api.operations import accepted
from local.batchai.api.rules import cluster_problems, scale_problems
from local.batchai.api.servers import check_servers
from local.batchai.api.views import cluster_view
from local.batchai.api.wire import Call, one
from local.batchai.api.workspaces import refuse_while_deleting, workspace_of
from local.batchai.state import ids
from local.batchai.state.errors import all_of, not_found
from local.batchai.state.models import Cluster
from local.batchai.state.transitions import settled


def cluster_of(call: Call) -> Cluster:
    """The cluster of the call. Raises ArmError."""
    workspace_of(call)
    cluster = call.store.clusters.get(ids.cluster(call.names))
    if cluster is None:
        raise not_found("cluster", call.names["cluster"])
    return cluster


async def put_cluster(call: Call) -> web.Response:
    """Create it. Repeating the request changes nothing; another one is refused: only the scale can change."""
    workspace = workspace_of(call)
    refuse_while_deleting(workspace)
    document: dict[str, Any] = (await call.body(CLUSTER))["properties"]
    if problems := cluster_problems(document, call.emulator.settings.unmanaged_mounts is not None):
        raise all_of(problems)
    existing = call.store.clusters.get(ids.cluster(call.names))
    if existing is not None:
        check_same(existing, document, "Only scaleSettings can be changed, by PATCH.")
        return _response(existing)
    mounts = document.get("nodeSetup", {}).get("mountVolumes", {})
    check_servers(call, mounts, "/properties/nodeSetup/mountVolumes/fileServers")
    others = clusters_in(call.store, call.names["subscription"], workspace.location)
    check_quota(len(others), MOST_CLUSTERS, "clusters in a region")
    now = call.emulator.clock()
    path = "{}/{}/workspaces/{}/clusters/{}".format(*ids.names_in(ids.cluster(call.names)))
    cluster = Cluster(
        id=ids.cluster(call.names),
        sequence=call.store.next_sequence(),
        created=now,
        document=document,
        suffix=f"{path}/{uuid.uuid4()}",
        allocation_since=now,
    )
    call.store.save(cluster)
    call.emulator.conductor.nudge()
    return accepted(call, "create", cluster)


async def patch_cluster(call: Call) -> web.Response:
    """Change the scale settings; the conductor adds or removes nodes later."""
    cluster = cluster_of(call)
    body = await call.body(CLUSTER_PATCH)
    scale = body.get("properties", {}).get("scaleSettings")
    if scale:
        if problems := list(scale_problems(scale, "/properties/scaleSettings")):
            raise all_of(problems)
        cluster = cluster.evolve(document=cluster.document | {"scaleSettings": scale})
        cluster = settled(cluster, call.emulator.clock())
        call.store.save(cluster)
        call.emulator.conductor.nudge()
    return _response(cluster)


async def get_cluster(call: Call) -> web.Response:
    """Answer with a cluster, or 404."""
    return _response(cluster_of(call))


async def delete_cluster(call: Call) -> web.Response:
    """Delete it with its nodes; jobs on it fail."""
    return delete(call, call.store.clusters.get(ids.cluster(call.names)))


async def list_clusters(call: Call) -> web.Response:
    """The clusters of a workspace."""
    return call.page(cluster_view, call.store.clusters.children(workspace_of(call).id))


def _response(cluster: Cluster) -> web.Response:
    return one(cluster_view(cluster), cluster.allocation_since)
