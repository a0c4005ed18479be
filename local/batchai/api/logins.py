"""Remote login information: where the nodes of a cluster or job are. No ssh server listens there."""

from typing import Any

from aiohttp import web

from local.batchai.api.clusters import cluster_of
from local.batchai.api.jobs import job_of
from local.batchai.api.wire import Call
from local.batchai.state.models import Node

_FIRST_PORT = 50000


async def list_of_cluster(call: Call) -> web.Response:
    """Every node of the cluster that has arrived."""
    cluster = cluster_of(call)
    return call.list_page([_login(node) for node in cluster.nodes if node.state != "allocating"])


async def list_of_job(call: Call) -> web.Response:
    """The nodes on which the job runs; none while it is queued and after its end."""
    job = job_of(call)
    cluster = call.store.clusters.get(job.cluster)
    nodes = cluster.nodes if cluster else ()
    return call.list_page([_login(node) for node in nodes if node.id in job.nodes])


def _login(node: Node) -> dict[str, Any]:
    # The service counted the ports of one public address; here each node has an address of its own.
    return {"nodeId": node.id, "ipAddress": node.address, "port": _FIRST_PORT + node.number - 1}
