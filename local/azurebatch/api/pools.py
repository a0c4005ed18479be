"""Operations on pools."""

from datetime import datetime
from typing import Any

from aiohttp import web

from local.azurebatch.api import bodies, pool_bodies
from local.azurebatch.api.autoscaling import checked
from local.azurebatch.api.odata import page, selected
from local.azurebatch.api.views import View, pool_view
from local.azurebatch.api.wire import Call, check_conditions, document, done, versions_of
from local.azurebatch.service.sizes import cores_of
from local.azurebatch.state.errors import BatchError, conflict, invalid, lacking
from local.azurebatch.state.models import Autoscale, Pool

#: Members of a pool that a PATCH changes only while it has no nodes.
_OF_EMPTY_POOLS = (
    *("displayName", "vmSize", "taskSlotsPerNode", "taskSchedulingPolicy", "enableInterNodeCommunication"),
    *("virtualMachineConfiguration", "networkConfiguration", "userAccounts", "mountConfiguration"),
    "upgradePolicy",
)


async def add(call: Call) -> web.StreamResponse:
    """Create a pool."""
    body = bodies.read(pool_bodies.NewPool, call.body)
    present = call.store.pools.get(body.id.lower())
    if present is not None:
        _check_alive(present)
        raise conflict("PoolExists", "The specified pool already exists.")
    _complete_machine(body.virtual_machine_configuration)
    if body.start_task:
        bodies.check_files("resourceFiles", body.start_task.resource_files)
    bodies.check_duration(body.resize_timeout, "resizeTimeout", "PT5M")
    _check_slots(body.vm_size, body.task_slots_per_node)
    if body.auto_scale_formula and not body.enable_auto_scale:
        raise invalid("autoScaleFormula", "", "A pool without enableAutoScale has no formula")
    now = call.emulator.clock()
    pool = Pool(
        id=body.id,
        sequence=call.store.next_sequence(),
        created=now,
        version=now,
        document=_own_members(bodies.shown(body)),
        since=now,
        allocation="resizing",
        allocation_since=now,
        dedicated=body.target_dedicated_nodes,
        spot=body.target_low_priority_nodes,
        resize_timeout=body.resize_timeout,
        autoscale=_autoscale(call, body) if body.enable_auto_scale else None,
    )
    _save(call, pool)
    return done(call, 201, pool, f"/pools/{pool.id}")


def _check_slots(size: str, slots: int) -> None:
    """Refuse more slots than the service gives a size. Raises BatchError."""
    cores = cores_of(size)
    if cores is not None and slots > 4 * cores:
        raise invalid("taskSlotsPerNode", str(slots), f"A node with {cores} cores has at most {4 * cores}")


def _complete_machine(configuration: dict[str, Any]) -> None:
    for name in ("imageReference", "nodeAgentSKUId"):
        if name not in configuration:
            raise lacking(name)
    image = configuration["imageReference"]
    if not isinstance(image, dict):
        raise invalid("imageReference", str(image)[:100], "It is an object")
    if "publisher" in image:
        image.setdefault("version", "latest")


def _autoscale(call: Call, body: pool_bodies.NewPool) -> Autoscale:
    if {"targetDedicatedNodes", "targetLowPriorityNodes"} & call.body.keys():
        raise invalid(
            "targetDedicatedNodes", "", "A pool with enableAutoScale takes its targets from its formula"
        )
    formula = checked(body.auto_scale_formula)
    bodies.check_interval(body.auto_scale_evaluation_interval)
    return Autoscale(formula=formula, interval=body.auto_scale_evaluation_interval)


def _own_members(shown: dict[str, Any]) -> dict[str, Any]:
    """The members that have no field of their own in the record."""
    apart = {
        "id",
        "resizeTimeout",
        "targetDedicatedNodes",
        "targetLowPriorityNodes",
        "enableAutoScale",
        "autoScaleFormula",
        "autoScaleEvaluationInterval",
    }
    return {name: value for name, value in shown.items() if name not in apart}


async def get(call: Call) -> web.StreamResponse:
    """One pool."""
    pool = call.store.pool(call.names["pool"])
    check_conditions(call.request, pool)
    return document(call, "pools/@Element", selected(call, _view(call, pool)), versions_of(pool))


async def exists(call: Call) -> web.StreamResponse:
    """Whether there is a pool."""
    pool = call.store.pool(call.names["pool"])
    check_conditions(call.request, pool)
    return done(call, 200, pool)


async def every(call: Call) -> web.StreamResponse:
    """All pools."""
    return page(call, "pools", call.store.pools.values(), lambda pool: _view(call, pool))


async def delete(call: Call) -> web.StreamResponse:
    """Delete a pool and its nodes. Its tasks wait for another pool of the same name."""
    pool = _pool(call)
    now = call.emulator.clock()
    _save(call, pool.evolve(deleting=True, since=now, allocation="resizing", allocation_since=now))
    return done(call, 202)


async def patch(call: Call) -> web.StreamResponse:
    """Change members of a pool, except its size."""
    pool = _pool(call)
    changes = bodies.shown(bodies.read(pool_bodies.PoolPatch, call.body))
    if pool.nodes and (fixed := [name for name in _OF_EMPTY_POOLS if name in changes]):
        message = f"The property '{fixed[0]}' can be updated only when the pool is empty."
        raise conflict("PoolNotEmpty", message)
    content = {**pool.document, **changes}
    _check_slots(content["vmSize"], int(content.get("taskSlotsPerNode", 1)))
    return _changed(call, pool, content, 200)


async def update(call: Call) -> web.StreamResponse:
    """Replace the replaceable members of a pool; missing ones are removed."""
    pool = _pool(call)
    changes = bodies.shown(bodies.read(pool_bodies.PoolPatch, call.body))
    replaced = {"startTask", "metadata", "applicationPackageReferences", "certificateReferences"}
    unchanged = {name: value for name, value in pool.document.items() if name not in replaced}
    return _changed(call, pool, {**unchanged, **changes}, 204)


def _changed(call: Call, pool: Pool, content: dict[str, Any], status: int) -> web.Response:
    changed = pool.evolve(document=content, version=call.emulator.clock())
    _save(call, changed)
    return done(call, status, changed)


async def resize(call: Call) -> web.StreamResponse:
    """Start resizing a pool."""
    pool = _pool(call)
    body = bodies.read(pool_bodies.Resize, call.body)
    if pool.autoscale:
        message = "The specified pool is configured for automatic scaling and cannot be resized."
        raise conflict("PoolBeingAutoScaled", message)
    if pool.allocation != "steady":
        raise conflict("PoolBeingResized", "The specified pool is being resized.")
    if body.target_dedicated_nodes is None and body.target_low_priority_nodes is None:
        raise lacking("targetDedicatedNodes")
    bodies.check_duration(body.resize_timeout, "resizeTimeout", "PT5M")
    dedicated = pool.dedicated if body.target_dedicated_nodes is None else body.target_dedicated_nodes
    spot = pool.spot if body.target_low_priority_nodes is None else body.target_low_priority_nodes
    now = call.emulator.clock()
    changed = resized(pool, dedicated, spot, body.node_deallocation_option, now)
    changed = changed.evolve(resize_timeout=body.resize_timeout, version=now)
    _save(call, changed)
    return done(call, 202, changed)


def resized(pool: Pool, dedicated: int, spot: int, leaving: str, now: datetime) -> Pool:
    """The pool while it is resizing."""
    return pool.evolve(
        dedicated=dedicated, spot=spot, leaving=leaving, allocation="resizing", allocation_since=now
    )


async def stop_resize(call: Call) -> web.StreamResponse:
    """Stop resizing a pool; it keeps its present nodes."""
    pool = _pool(call)
    if pool.allocation != "resizing":
        raise conflict("PoolNotBeingResized", "The specified pool is not being resized.")
    now = call.emulator.clock()
    changed = pool.evolve(allocation="stopping", allocation_since=now, version=now)
    _save(call, changed)
    return done(call, 202, changed)


async def remove_nodes(call: Call) -> web.StreamResponse:
    """Remove certain nodes from a pool."""
    pool = _pool(call)
    body = bodies.read(pool_bodies.Remove, call.body)
    if pool.allocation != "steady":
        raise conflict("PoolBeingResized", "The specified pool is being resized.")
    # Clients that collect the nodes of failed tasks name some of them twice.
    going = [pool.node(name) for name in dict.fromkeys(body.node_list)]
    now = call.emulator.clock()
    changed = pool
    for node in going:
        if node is None:
            raise BatchError(404, "NodeNotFound", "The specified compute node does not exist.")
        changed = changed.with_node(node.evolve(state="leavingpool", since=now))
        changed = changed.evolve(
            dedicated=changed.dedicated - node.dedicated, spot=changed.spot - (not node.dedicated)
        )
    changed = resized(changed, changed.dedicated, changed.spot, body.node_deallocation_option, now)
    _save(call, changed.evolve(version=now))
    return done(call, 202, changed)


def _view(call: Call, pool: Pool) -> View:
    return call.as_of("Pool", pool_view(call.base, pool))


def _pool(call: Call) -> Pool:
    """The pool of the path, if it may be changed. Raises BatchError."""
    pool = call.store.pool(call.names["pool"])
    check_conditions(call.request, pool)
    _check_alive(pool)
    return pool


def _check_alive(pool: Pool) -> None:
    if pool.deleting:
        raise conflict("PoolBeingDeleted", "The specified pool is being deleted.")


def _save(call: Call, pool: Pool) -> None:
    call.store.save(pool)
    call.emulator.conductor.nudge()
