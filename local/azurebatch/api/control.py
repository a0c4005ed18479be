"""What only an emulator can do: its own routes below /emulator, apart from the service's contract."""

from aiohttp import web

from local.azurebatch.api.nodes import node_of
from local.azurebatch.api.wire import Call, done
from local.azurebatch.run.pool_nodes import PREEMPTIBLE
from local.azurebatch.state.errors import conflict

PREFIX = "/emulator"


async def preempt(call: Call) -> web.StreamResponse:
    """Take a spot node back. Tasks on it wait for another, and it comes back after a while."""
    pool, node = node_of(call)
    if node.dedicated:
        raise conflict("NodeNotPreemptible", "Only spot nodes are ever preempted.")
    if node.state not in PREEMPTIBLE:
        message = f"The node is {node.state}; only one that is {', '.join(PREEMPTIBLE)} can be preempted."
        raise conflict("NodeNotReady", message)
    call.emulator.conductor.preempt(pool, node)
    return done(call, 202)
