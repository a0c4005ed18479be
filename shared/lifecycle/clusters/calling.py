"""Calls to a cluster: with a deadline, and none while its breaker is open.

One call asks for all active jobs of a cluster; that it does not answer is noted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from shared.admission.reason import sentence
from shared.core.engine import Engine, Observation, Why
from shared.core.errors import EngineError, LeftAlone, is_answer
from shared.core.ledger.entries import Active
from shared.core.ports import Ports
from shared.core.trouble import Troubles

log = logging.getLogger(__name__)

#: An engine and the name of a cluster.
ClusterKey = tuple[str, str]
Observations = Mapping[str, Observation | None]


@asynccontextmanager
async def calling(ports: Ports, engine: str, cluster: str, seconds: float | None) -> AsyncIterator[Engine]:
    """The engine, for one call inside the block. The outcome updates the cluster's breaker.

    Raises LeftAlone without a call while the breaker is open, TimeoutError after `seconds` (None: the caller
    sets the limit), and any error of the call.
    """
    path = cluster_path(engine, cluster)
    if ports.breaker.wait(path, ports.clock()):
        raise LeftAlone(f"{cluster} does not answer, and is left alone for a while")
    try:
        async with asyncio.timeout(seconds):
            yield ports.engines.get(engine)
    except Exception as error:
        if is_answer(error):
            ports.breaker.succeeded(path)
        else:  # it did not answer, or the adapter failed: the outcome is unknown
            ports.breaker.failed(path, ports.clock())
        raise
    ports.breaker.succeeded(path)


def left_alone(ports: Ports, engine: str, cluster: str) -> bool:
    """Whether a call would raise LeftAlone; does not take the probe."""
    return ports.breaker.open(cluster_path(engine, cluster), ports.clock())


def cluster_path(engine: str, cluster: str) -> str:
    """The name of a cluster's breaker."""
    return f"{engine}/{cluster}"


async def ask(ports: Ports, key: ClusterKey, rows: list[Active]) -> Observations | None:
    """The engine's report by job id: an observation, or None for not found. None if it does not answer."""
    targets = [row.target for row in rows if row.target is not None]
    try:
        async with calling(ports, *key, ports.policy.ask_deadline) as engine:
            statuses = await engine.status(key[1], targets)
        ports.troubles.resolve("cluster", cluster_path(*key))
        return {row.job_id: statuses.get(row.target.name) for row in rows if row.target}
    except (EngineError, TimeoutError) as error:
        # The records keep their states, since nothing is known; readers add the silence of the cluster.
        _silent(ports.troubles, cluster_path(*key), error)
        log.warning("cluster %s cannot be queried: %r", key[1], error, extra={"cluster": key[1]})
    except Exception:
        # A defect of one adapter must not stop the passes of other clusters.
        ports.troubles.report("cluster", cluster_path(*key), "a defect of its adapter; the log has it")
        log.exception("cluster %s cannot be queried", key[1], extra={"cluster": key[1]})
    return None


def _silent(troubles: Troubles, cluster_path: str, error: EngineError | TimeoutError) -> None:
    """Note since when a cluster does not answer, and its last error.

    An open breaker is not an error of the cluster.
    """
    text = sentence(Why("", str(error) or "no answer in time"))
    if isinstance(error, LeftAlone):
        text = troubles.reasons("cluster").get(cluster_path, text)
    troubles.report("cluster", cluster_path, text)
