"""The forecast for a job: limits, nodes to add, how long it waits, what it may cost. Pure.

Every number comes with its reason, and unknown ones are marked as unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from shared.core.cost.prices import Price
from shared.core.engine import ClusterView, lacks_quota, room, too_large
from shared.core.facts import UNLISTED, ClusterFacts
from shared.jobspec import Limits, iso_duration

#: How long a node takes to start, in seconds: an assumption, which depends on size, region and image.
_NODE_START = 15 * 60
#: How long the scheduler takes to give a job to idle nodes, in seconds; an assumption, too.
_PLACING = 60


@dataclass(frozen=True)
class Ahead:
    """The jobs of the same cluster that have not ended."""

    queued: int
    running: int


def nodes_to_add(nodes: int, view: ClusterView) -> int:
    """How many nodes have to start for the job, if no other job took the idle ones."""
    return max(0, nodes - view.counts.get("idle", 0))


def limits(
    nodes: int, wall_clock: timedelta, allowed: Limits, view: ClusterView | None, facts: ClusterFacts
) -> list[dict[str, Any]]:
    """Each limit: the value that the job asks for, the one that is allowed, and whether it is met.

    None: unknown.
    """
    rows = [
        _limit("nodes of a job", nodes, allowed.max_nodes, met=nodes <= allowed.max_nodes),
        _limit(
            "wall-clock limit",
            iso_duration(wall_clock),
            iso_duration(allowed.max_wall_clock),
            met=wall_clock <= allowed.max_wall_clock,
        ),
    ]
    if facts.longest is not None:
        longest = iso_duration(facts.longest)
        met = wall_clock <= facts.longest
        rows.append(_limit("wall-clock limit of the cluster", iso_duration(wall_clock), longest, met=met))
    if view is None:
        return [
            *rows,
            _limit("nodes of the cluster", nodes, None, met=None, why="the cluster was not queried"),
        ]
    if view.state == UNLISTED:
        most = view.maximum
        fits = None if most is None else nodes <= most
        return [
            *rows,
            _limit("nodes of the cluster", nodes, most, met=fits, why="its nodes are not listed"),
        ]
    most = room(view)
    rows.append(_limit("nodes of the cluster", nodes, most, met=nodes <= most))
    if nodes_to_add(nodes, view):
        rows.append(_quota(nodes, view))
    return rows


def _quota(nodes: int, view: ClusterView) -> dict[str, Any]:
    """The limit of nodes by quota. That there is room for a job does not show that nothing else takes it."""
    most = view.supply.most
    short = next((error for error in view.errors if "quota" in error.lower()), None)
    if short is None and lacks_quota(nodes, view):
        short = view.supply.quota
    enough = "the cluster reports no lack of it; whether it is enough shows only when nodes are added"
    why = short or "; ".join(filter(None, (enough, view.supply.quota)))
    return _limit("quota for nodes", nodes, most, met=False if short else None, why=why)


def wait(nodes: int, view: ClusterView | None, ahead: Ahead | None) -> dict[str, Any]:
    """Seconds from acceptance to the start, as a range; `to` is None if unknown."""
    if view is None:
        return _range(None, None, "unknown, because the cluster was not queried")
    if view.state == UNLISTED and (view.maximum is None or nodes <= view.maximum):
        return _range(0, None, "unknown, because the nodes of the cluster are not listed")
    if never := too_large(nodes, view):
        return _range(None, None, never)
    if ahead is not None and ahead.queued:
        text = f"{_jobs(ahead.queued, 'wait')} on the cluster before it; how long is not known"
        return _range(0, None, text)
    shortage = nodes_to_add(nodes, view)
    if not shortage:
        return _range(0, _PLACING, f"{view.counts.get('idle', 0)} nodes are idle, {nodes} are asked for")
    if shortage <= room(view) - view.nodes:
        text = f"{shortage} of {nodes} nodes have to start"
        if lacks_quota(nodes, view):
            return _range(None, None, f"{text}, and {view.supply.quota}")
        if view.errors:
            return _range(0, None, f"{text}, and the cluster reports: {view.errors[0]}")
        text += "; up to 15 minutes is an assumption, not a measurement"
        return _range(0, _NODE_START, "; ".join(filter(None, (text, view.supply.growth))))
    running = f"{_jobs(ahead.running, 'run')} there" if ahead else "others use its nodes"
    text = f"the cluster cannot grow by {shortage} nodes before others are free; {running}"
    return _range(0, None, text)


def cost(
    nodes: int, wall_clock: timedelta, size: str, priority: str, prices: Sequence[Price], *, part: float = 1.0
) -> dict[str, Any]:
    """Node-hours and price, from a job that ends at once to one that reaches its wall-clock limit.

    `part`: of each node, which the job may share.
    """
    hours = nodes * part * wall_clock.total_seconds() / 3600
    what = f"{nodes} nodes" if part >= 1 else f"{part:.0%} of each of {nodes} nodes"
    body: dict[str, Any] = {
        "nodes": nodes,
        "size": size or None,
        "priority": priority or None,
        "nodeHours": {"from": 0, "to": round(hours, 4)},
        "why": f"{what} for at most {iso_duration(wall_clock)}; starting and idle nodes cost as well",
    }
    if not prices:
        what = f"no price known for {size}" if size else "no price: the VM size of the cluster is not known"
        return body | {"price": None, "note": f"{what}; an operator may add one with SLIPWAY_PRICES"}
    currencies = sorted({price.currency for price in prices})
    body["price"] = [
        _price(nodes * part, hours, [p for p in prices if p.currency == name]) for name in currencies
    ]
    return body


def _price(nodes: float, hours: float, prices: Sequence[Price]) -> dict[str, Any]:
    low, high = min(p.per_hour for p in prices), max(p.per_hour for p in prices)
    return {
        "currency": prices[0].currency,
        "perHour": {"from": round(nodes * low, 4), "to": round(nodes * high, 4)},
        "total": {"from": 0, "to": round(hours * high, 2)},
        "rows": [price.model_dump(mode="json", by_alias=True, exclude_defaults=True) for price in prices],
    }


def _limit(name: str, value: Any, allowed: Any, *, met: bool | None, why: str = "") -> dict[str, Any]:
    row = {"name": name, "asked": value, "allowed": allowed, "met": met}
    return row | ({"why": why} if why else {})


def _range(start: int | None, end: int | None, reason: str) -> dict[str, Any]:
    return {"from": start, "to": end, "reason": reason}


def _jobs(count: int, verb: str) -> str:
    return f"1 job of this deployment {verb}s" if count == 1 else f"{count} jobs of this deployment {verb}"
