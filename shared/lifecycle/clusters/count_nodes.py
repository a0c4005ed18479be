"""count_nodes: records the number of nodes of each cluster on the sweeper's timer, at most once a minute."""

from __future__ import annotations

import asyncio
import logging
from typing import NamedTuple

from shared.core.errors import EngineError, SlipwayError
from shared.core.ledger.node_history import Point, counted
from shared.core.ports import Ports
from shared.lifecycle.clusters.calling import left_alone

log = logging.getLogger(__name__)


async def count_nodes(ports: Ports) -> int:
    """Record the nodes of every cluster that is due. Returns how many points were written; never raises.

    While nothing changes, it costs one call a minute for each cluster, and one write to the ledger in ten
    minutes.
    """
    noted = await asyncio.gather(*(_count(ports, name) for name in ports.engines.clusters))
    return sum(noted)


async def _count(ports: Ports, cluster: str) -> bool:
    """Record the nodes of one cluster; whether a point was written."""
    try:
        history = await ports.node_histories.get(cluster)
        if history.rests(ports.clock()):
            return False
        longer = history.extended(*await _count_now(ports, cluster))
        return longer is not history and await ports.node_histories.put(longer) is not None
    except SlipwayError as error:
        log.warning("the nodes of %s are not noted: %s", cluster, error)
        return False


class _Count(NamedTuple):
    """The nodes of a cluster at a moment, and the most that it may have."""

    point: Point
    maximum: int | None = None


async def _count_now(ports: Ports, cluster: str) -> _Count:
    """The current nodes. The call is not the probe of the cluster's breaker, which is reserved for jobs."""
    engine = ports.engines.clusters[cluster].engine
    if left_alone(ports, engine, cluster):
        return _Count(Point(ports.clock(), None))
    try:
        async with asyncio.timeout(ports.policy.dispatch_deadline):
            view = await ports.engines.get(engine).nodes(cluster)
    except (EngineError, TimeoutError):
        return _Count(Point(ports.clock(), None))
    except Exception:
        # A defect of one adapter must not stop the others.
        log.exception("cluster %s cannot be counted", cluster)
        return _Count(Point(ports.clock(), None))
    return _Count(Point(ports.clock(), counted(view.counts)), view.maximum)
