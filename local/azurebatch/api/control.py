"""Routes below /emulator that only an emulator has, apart from the service's contract."""

from dataclasses import asdict
from typing import Annotated, Literal

from aiohttp import web
from pydantic import Field

from local.azurebatch.api import bodies
from local.azurebatch.api.nodes import node_of
from local.azurebatch.api.wire import Call, done
from local.azurebatch.run.pool_nodes import PREEMPTIBLE
from local.azurebatch.state.errors import conflict, invalid
from local.azurebatch.state.faults import REFUSALS, RESIZE_ERRORS, Fault
from local.azurebatch.state.moment import stamp

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


class NewResizeError(bodies.Body):
    """The error of the next attempts to grow."""

    code: str
    times: Annotated[int, Field(ge=1, le=1000)] = 1


async def fail_resize(call: Call) -> web.StreamResponse:
    """Let the next attempts of a pool to grow fail with an error."""
    pool = call.store.pool(call.names["pool"])
    body = bodies.read(NewResizeError, call.body)
    if body.code not in RESIZE_ERRORS:
        raise invalid("code", body.code[:100], f"It is one of {', '.join(RESIZE_ERRORS)}")
    call.store.save(pool.evolve(coming_errors=(*pool.coming_errors, *[body.code] * body.times)))
    return done(call, 204)


class NodeFault(bodies.Body):
    """How a node fails: its start task, with an exit code, or the node itself, with an error."""

    state: Literal["starttaskfailed", "unusable"]
    exit_code: int = 1
    code: str = "NodeUnusable"
    message: str = "The node cannot be used"


async def fail_node(call: Call) -> web.StreamResponse:
    """Let a node fail. Its tasks wait for another one; a reboot makes it usable again."""
    pool, node = node_of(call)
    body = bodies.read(NodeFault, call.body)
    failed = node.evolve(state=body.state)
    if body.state == "unusable":
        failed = failed.evolve(errors=({"code": body.code, "message": body.message, "errorDetails": []},))
    else:
        now = stamp(call.emulator.clock())
        info = {"state": "completed", "startTime": now, "endTime": now, "retryCount": 0, "result": "failure"}
        failed = failed.evolve(start_task={**info, "exitCode": body.exit_code})
    call.emulator.conductor.fail(pool, failed)
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
