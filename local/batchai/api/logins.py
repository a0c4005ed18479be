"""Remote login information: where the nodes of a cluster or job answer ssh."""

from typing import Any

from aiohttp import web

from local.batchai.api.clusters import cluster_of
from local.batchai.api.jobs import job_of
from local.batchai.api.wire import Call
from local.batchai.state.models import Cluster, Node


async def list_of_cluster(call: Call) -> web.Response:
    """Every node of the cluster that has arrived."""
    cluster = cluster_of(call)
    nodes = [node for node in cluster.nodes if node.state != "allocating"]
    return call.list_page([_login(call, cluster, node) for node in nodes])


async def list_of_job(call: Call) -> web.Response:
    """The nodes on which the job runs; none while it is queued and after its end."""
    job = job_of(call)
    cluster = call.store.clusters.get(job.cluster)
    if cluster is None:
        return call.list_page([])
    nodes = [node for node in cluster.nodes if node.id in job.nodes]
    return call.list_page([_login(call, cluster, node) for node in nodes])


def _login(call: Call, cluster: Cluster, node: Node) -> dict[str, Any]:
    # The service counted the ports of one public address; here each node has an address of its own.
    port = call.emulator.conductor.logins.port(cluster.id, node)
    return {"nodeId": node.id, "ipAddress": node.address, "port": port}
