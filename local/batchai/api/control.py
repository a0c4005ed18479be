"""The emulator's own routes below /emulator, apart from the service's contract."""

from aiohttp import web

from local.batchai.conductor import Conductor
from local.batchai.state import ids
from local.batchai.state.database import Store
from local.batchai.state.errors import ArmError
from local.batchai.state.models import Cluster, Node
from local.batchai.state.moment import stamp

PREFIX = "/emulator"


class Control:
    """Shows every node, and preempts one."""

    def __init__(self, store: Store, conductor: Conductor) -> None:
        self._store = store
        self._conductor = conductor

    async def nodes(self, _: web.Request) -> web.Response:
        """All nodes of all clusters."""
        views = [_view(cluster, node) for cluster in self._store.clusters for node in cluster.nodes]
        return web.json_response({"value": views})

    async def preempt(self, request: web.Request) -> web.Response:
        """Preempt a low-priority node. A job on it goes back to the queue and starts from the beginning."""
        ids.check(request.match_info)
        name = request.match_info["node"]
        every = ((cluster, node) for cluster in self._store.clusters for node in cluster.nodes)
        cluster, node = next((pair for pair in every if pair[1].id == name), (None, None))
        if cluster is None or node is None:
            message = f"There is no node {name}; GET {PREFIX}/nodes lists all nodes."
            raise ArmError(404, "NodeNotFound", message, "node")
        if cluster.document.get("vmPriority") != "lowpriority":
            message = "Only nodes of clusters with vmPriority lowpriority are ever preempted."
            raise ArmError(409, "NodeNotPreemptible", message, "node")
        if node.state not in ("idle", "running", "unusable"):
            message = (
                f"The node is {node.state}; only one that is idle, running or unusable can be preempted."
            )
            raise ArmError(409, "NodeNotReady", message, "node")
        if not node.preempted:
            self._conductor.preempt(cluster, node)
        return web.json_response(_view(cluster, node.evolve(preempted=True)), status=202)


def _view(cluster: Cluster, node: Node) -> dict[str, object]:
    return {
        "id": node.id,
        "cluster": cluster.id,
        "address": node.address,
        "vmPriority": cluster.document.get("vmPriority", "dedicated"),
        "state": node.state,
        "since": stamp(node.since),
        "job": node.job,
        "preempted": node.preempted,
    }
