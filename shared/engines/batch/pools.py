"""The current state of a pool, and the reason why a queued task waits for it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shared.core.engine import ClusterView, Why, lacks_quota, too_large
from shared.core.errors import Misconfigured
from shared.core.facts import Allotted, Gpus, Supply
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.node_faults import UNUSABLE, WORDS
from shared.engines.batch.quota import Quota
from shared.engines.batch.sizes import size_trouble

#: States of nodes → the states in a view.
_STATES: Mapping[str, str] = {
    "idle": "idle",
    "running": "running",
    **dict.fromkeys(
        ("creating", "starting", "waitingforstarttask", "rebooting", "reimaging", "upgradingos"), "preparing"
    ),
    **dict.fromkeys(("unusable", "starttaskfailed", "unknown", "offline"), "unusable"),
    **dict.fromkeys(("leavingpool", "preempted", "deallocating", "deallocated"), "leaving"),
}
#: Before a node starts: a pass finds the task and writes the formula, then Azure evaluates it.
_GROWTH = "before that, a pass writes the pool's formula, at most every 30 s, and Azure resizes the pool"
_QUOTAS = "[dedicatedCoreQuotaPerVmFamily, lowPriorityCoreQuota]"
_SPACE = ("idle", "running", "preparing", "unusable", "leaving")
#: Part of the code of a resize error → the word for the reason, and a sentence. Azure spells codes in more
#: than one way (`AllocationTimedout`): case is ignored.
_ERRORS: tuple[tuple[str, str, str], ...] = (
    ("QuotaReached", "Quota", "the account's quota of cores is used up: ask Azure for more"),
    ("QuotaExceeded", "Quota", "the account's quota of cores is used up: ask Azure for more"),
    ("AllocationFailed", "NoCapacity", "Azure has no such virtual machines to give at the moment"),
    ("AllocationTimedout", "NoCapacity", "Azure did not give virtual machines in time"),
    ("Overconstrained", "NoCapacity", "Azure has no such virtual machines to give at the moment"),
    ("Capacity", "NoCapacity", "Azure has no such virtual machines to give at the moment"),
    ("PoolBeingDeleted", "PoolUnusable", "its pool is being deleted"),
    ("AutoScal", "Formula", "Azure cannot evaluate the pool's formula; an operator has to correct it"),
    (
        "Image",
        "ImageEnded",
        "the image of the pool is no longer usable: an operator has to choose another",
    ),
)


def view(
    cluster: BatchCluster, pool: Mapping[str, Any], counts: Mapping[str, Any], quota: Quota | None = None
) -> ClusterView:
    """The cluster, from its pool, the pool's entry in the list of node counts, and the account's quota."""
    states = dict.fromkeys(_SPACE, 0)
    for kind in ("dedicated", "lowPriority"):
        for word, number in (counts.get(kind) or {}).items():
            if word.lower() in _STATES:
                states[_STATES[word.lower()]] += int(number)
    target = target_of(pool)
    scales = bool(pool.get("enableAutoScale"))
    size, priority = str(pool.get("vmSize") or ""), "lowpriority" if cluster.spot else "dedicated"
    return ClusterView(
        name=cluster.name,
        engine="batch",
        state="steady" if pool.get("allocationState") == "steady" else "resizing",
        nodes=nodes_in(pool),
        counts=states,
        minimum=cluster.min_nodes if scales else target,
        maximum=(cluster.max_nodes or None) if scales else target,
        size=size,
        errors=tuple(errors(pool)),
        priority=priority,
        supply=_supply(cluster, quota),
        gpus=Gpus.of_nodes(states, cluster.facts.gpus),
        facts=replace(
            cluster.facts,
            retired_size=size_trouble(size),
            size=size,
            priority=priority,
            region=cluster.region,
            **_alone(pool),
            allotted=Allotted(part=1 / slots_of(pool)),
        ),
    )


def slots_of(pool: Mapping[str, Any]) -> int:
    """How many tasks share a node."""
    return max(1, int(pool.get("taskSlotsPerNode") or 1))


def _alone(pool: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a pool whose nodes may not speak to each other, or are shared: jobs have one node each.

    Azure never starts a task on several nodes there.
    """
    are_alone = pool.get("enableInterNodeCommunication") is False or slots_of(pool) > 1
    return {"max_nodes": 1, "lists_all": True} if are_alone else {}


def _supply(cluster: BatchCluster, quota: Quota | None) -> Supply:
    growth = _GROWTH if cluster.scales else ""
    if quota is not None:
        return Supply(cluster.region, growth, str(quota), quota.nodes)
    command = f"`az batch account list --query \"[?name=='{cluster.owner}'].{_QUOTAS}\"` shows it"
    return Supply(cluster.region, growth, command)


def nodes_in(pool: Mapping[str, Any]) -> int:
    """The number of nodes that a pool has."""
    return int(pool.get("currentDedicatedNodes") or 0) + int(pool.get("currentLowPriorityNodes") or 0)


def target_of(pool: Mapping[str, Any]) -> int:
    """The number of nodes that a pool is resizing to."""
    return int(pool.get("targetDedicatedNodes") or 0) + int(pool.get("targetLowPriorityNodes") or 0)


def errors(pool: Mapping[str, Any]) -> list[str]:
    """The pool's own errors, each with its code in front."""
    resize = [error_text(one) for one in pool.get("resizeErrors") or ()]
    formula = (pool.get("autoScaleRun") or {}).get("error")
    deleted = ["PoolBeingDeleted: by someone else"] if pool.get("state") == "deleting" else []
    return [*deleted, *resize, *([error_text(formula)] if formula else [])]


def why(nodes: int, current: ClusterView | Misconfigured | None, *, taken_back: bool = False) -> Why | None:
    """Why a queued task with this many nodes waits; None while the pool is unknown."""
    if current is None:
        return None
    if isinstance(current, Misconfigured):
        return Why("PoolUnusable", f"its pool cannot be used: {current}")
    if never := too_large(nodes, current):
        return Why("TooManyNodes", never, never=True)
    if current.counts.get("idle", 0) >= nodes:
        text = f"enough nodes of the cluster {current.name} are idle, but jobs before it may need more"
        return Why("InTurn", text, passes=True)
    errors_of_pool = [one for one in current.errors if not _is_of_nodes(one)]
    if errors_of_pool:
        return _of_error(errors_of_pool[0], current.name)
    if lacks_quota(nodes, current):
        return Why("Quota", f"{current.supply.quota}: ask Azure for more", lacks_capacity=True)
    reason = _of_nodes(current) or _comes(nodes, current)
    if not taken_back or reason.word in WORDS:  # the names of nodes leave no room
        return reason
    return replace(reason, text=f"its nodes were taken away, and it runs again: {reason.text}")


def _of_error(error: str, name: str) -> Why:
    code = error.partition(":")[0]
    for part, word, text in _ERRORS:
        if part.lower() in code.lower():
            return Why(word, f"{text} ({error})", lacks_capacity=word in ("Quota", "NoCapacity"))
    return Why("ClusterErrors", f"the pool of {name} reports: {error}")


def _comes(nodes: int, current: ClusterView) -> Why:
    counts = current.counts
    if current.state == "resizing":
        return Why("Resizing", f"the pool of {current.name} is changing the number of its nodes", passes=True)
    if counts.get("preparing", 0):
        return Why("NodesPreparing", f"nodes of the cluster {current.name} are being prepared", passes=True)
    if counts.get("unusable", 0):
        return Why(UNUSABLE, f"nodes of the cluster {current.name} are unusable")
    if counts.get("idle", 0) + counts.get("running", 0) < nodes:
        text = f"the pool of {current.name} lacks nodes; Azure evaluates its formula every five minutes"
        return Why("NodesMissing", text, passes=True)
    return Why("NodesBusy", f"the nodes of the cluster {current.name} are busy with other jobs", passes=True)


def _is_of_nodes(error: str) -> bool:
    return error.partition(":")[0] in WORDS


def _of_nodes(current: ClusterView) -> Why | None:
    """Why nodes cannot be used, as far as they say; None where none failed."""
    for word, _, text in (error.partition(": ") for error in filter(_is_of_nodes, current.errors)):
        return Why(word, text)
    return None


def error_text(one: Mapping[str, Any]) -> str:
    """An error of the service in a line: its code, and its message or the value of that name."""
    listed = one.get("values")
    parts = listed if isinstance(listed, list) else ()
    values = {str(v.get("name")): str(v.get("value")) for v in parts if isinstance(v, Mapping)}
    text = str(one.get("message") or values.get("Message") or "")
    return ": ".join(filter(None, (str(one.get("code") or ""), text)))[:300]
