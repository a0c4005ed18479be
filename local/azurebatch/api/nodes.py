"""Operations on nodes."""

from typing import NamedTuple
from urllib.parse import quote

from aiohttp import web

from local.azurebatch.api import bodies, pool_bodies
from local.azurebatch.api.odata import page_of, selected
from local.azurebatch.api.views import View, node_view
from local.azurebatch.api.wire import Call, document, done
from local.azurebatch.state.errors import conflict, not_found
from local.azurebatch.state.models import WORKING, Node, Pool

_SSH = 22


async def every(call: Call) -> web.StreamResponse:
    """All nodes of a pool."""
    pool = call.store.pool(call.names["pool"])
    return page_of(call, "nodes", enumerate(pool.nodes, 1), lambda node: _view(call, pool, node))


async def get(call: Call) -> web.StreamResponse:
    """One node."""
    pool, node = node_of(call)
    return document(call, "nodes/@Element", selected(call, _view(call, pool, node)))


async def reboot(call: Call) -> web.StreamResponse:
    """Reboot a node."""
    pool, node = _restarting(call)
    option = bodies.read(pool_bodies.Reboot, call.body).node_reboot_option
    call.emulator.conductor.reboot(pool, node, option, clean=False)
    return done(call, 202)


async def reimage(call: Call) -> web.StreamResponse:
    """Reboot a node, and clear its directories."""
    pool, node = _restarting(call)
    option = bodies.read(pool_bodies.Reboot, call.body).node_reimage_option
    call.emulator.conductor.reboot(pool, node, option, clean=True)
    return done(call, 202)


async def disable(call: Call) -> web.StreamResponse:
    """Start no more tasks on a node."""
    pool, node = _working(call)
    option = bodies.read(pool_bodies.Reboot, call.body).node_disable_scheduling_option
    if not node.takes_tasks:
        raise conflict(
            "NodeAlreadyInTargetSchedulingState", "The specified compute node is disabled already."
        )
    call.store.save(pool.with_node(node.evolve(takes_tasks=False)))
    call.emulator.conductor.leave(pool, {node.id}, option)
    call.emulator.conductor.nudge()
    return done(call, 200)


async def enable(call: Call) -> web.StreamResponse:
    """Start tasks on a node again."""
    pool, node = node_of(call)
    if node.takes_tasks:
        raise conflict("NodeAlreadyInTargetSchedulingState", "The specified compute node is enabled already.")
    call.store.save(pool.with_node(node.evolve(takes_tasks=True)))
    call.emulator.conductor.nudge()
    return done(call, 200)


async def add_user(call: Call) -> web.StreamResponse:
    """Note an account of a node, with which no login is possible."""
    pool, node = _working(call)
    name = str(call.body["name"])
    if name in node.users:
        raise conflict("NodeUserExists", "The specified node user already exists.")
    call.store.save(pool.with_node(node.evolve(users=(*node.users, name))))
    return done(call, 201, path=f"/pools/{pool.id}/nodes/{node.id}/users/{quote(name)}")


async def update_user(call: Call) -> web.StreamResponse:
    """Change an account of a node: its password, key or expiry, of which none is kept."""
    _user(call)
    return done(call, 200)


async def delete_user(call: Call) -> web.StreamResponse:
    """Remove an account of a node."""
    pool, node = _user(call)
    rest = tuple(name for name in node.users if name != call.names["user"])
    call.store.save(pool.with_node(node.evolve(users=rest)))
    return done(call, 200)


async def remote_login(call: Call) -> web.StreamResponse:
    """The address of a node. No ssh server of the emulator's listens there."""
    _, node = _working(call)
    login = {"remoteLoginIPAddress": node.address, "remoteLoginPort": _SSH}
    return document(call, "computenodes/@Element", login)


def _user(call: Call) -> "PoolNode":
    """The node of the path, if it has the account of the path. Raises BatchError."""
    pool, node = _working(call)
    if call.names["user"] not in node.users:
        raise not_found("NodeUser")
    return PoolNode(pool, node)


class PoolNode(NamedTuple):
    """A node and its pool."""

    pool: Pool
    node: Node


def node_of(call: Call) -> PoolNode:
    """The node of the path. Raises BatchError."""
    pool = call.store.pool(call.names["pool"])
    node = pool.node(call.names["node"])
    if node is None:
        raise not_found("Node")
    return PoolNode(pool, node)


def _working(call: Call) -> PoolNode:
    pool, node = node_of(call)
    if node.state not in (*WORKING, "starttaskfailed", "unusable"):
        raise conflict("NodeNotReady", "The specified compute node is not ready for this operation.")
    return PoolNode(pool, node)


def _restarting(call: Call) -> PoolNode:
    """The node of the path, if it is idle or runs: no other one is rebooted, as the service documents."""
    pool, node = node_of(call)
    if node.state not in WORKING:
        raise conflict("NodeNotReady", "The specified compute node is not ready for this operation.")
    return PoolNode(pool, node)


def _view(call: Call, pool: Pool, node: Node) -> View:
    tasks = call.store.running_tasks(pool) if node.state == "running" else []
    return call.as_of(
        "Node", node_view(call.base, pool, node, [task for task in tasks if node.id in task.nodes])
    )
