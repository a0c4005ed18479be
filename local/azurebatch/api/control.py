"""Routes below /emulator that only an emulator has, apart from the service's contract."""

from dataclasses import asdict
from typing import Annotated

from aiohttp import web
from pydantic import Field

from local.azurebatch.api import bodies
from local.azurebatch.api.nodes import node_of
from local.azurebatch.api.wire import Call, done
from local.azurebatch.run.pool_nodes import PREEMPTIBLE
from local.azurebatch.state.errors import conflict, invalid
from local.azurebatch.state.faults import REFUSALS, Fault

PREFIX = "/emulator"


async def preempt(call: Call) -> web.StreamResponse:
    """Preempt a spot node. Its tasks wait for another node, and it comes back after a while."""
    pool, node = node_of(call)
    if node.dedicated:
        raise conflict("NodeNotPreemptible", "Only spot nodes are ever preempted.")
    if node.state not in PREEMPTIBLE:
        message = f"The node is {node.state}; only one that is {', '.join(PREEMPTIBLE)} can be preempted."
        raise conflict("NodeNotReady", message)
    call.emulator.conductor.preempt(pool, node)
    return done(call, 202)


class NewFault(bodies.Body):
    """The requests to refuse, and the error."""

    code: str
    method: str = "*"
    path: Annotated[str, Field(pattern="^/")]
    times: Annotated[int, Field(ge=1, le=1000)] = 1
    late: bool = False


async def add_fault(call: Call) -> web.StreamResponse:
    """Refuse the next requests of a kind, or, with `late`, lose their answers."""
    body = bodies.read(NewFault, call.body)
    if body.code not in REFUSALS:
        raise invalid("code", body.code[:100], f"It is one of {', '.join(REFUSALS)}")
    call.emulator.faults.add(Fault(body.code, body.method.upper(), body.path, body.times, body.late))
    return done(call, 204)


async def faults(call: Call) -> web.StreamResponse:
    """The faults that are still to come."""
    return web.json_response({"value": [asdict(one) for one in call.emulator.faults.waiting]})


async def clear_faults(call: Call) -> web.StreamResponse:
    """Cancel all faults."""
    call.emulator.faults.clear()
    return done(call, 204)
