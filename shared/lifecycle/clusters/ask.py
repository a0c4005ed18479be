"""ask: queries a cluster for all its active jobs at once, and notes when it does not answer."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from shared.admission.reason import sentence
from shared.core.engine import Observation, Why
from shared.core.errors import EngineError, LeftAlone
from shared.core.ledger.records import Active
from shared.core.ports import Ports
from shared.lifecycle.clusters.calling import calling, cluster_path

log = logging.getLogger(__name__)

#: An engine and the name of a cluster.
ClusterKey = tuple[str, str]
Observations = Mapping[str, Observation | None]


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
        _silent(ports, cluster_path(*key), error)
        log.warning("cluster %s cannot be queried: %r", key[1], error, extra={"cluster": key[1]})
    except Exception:
        # A defect of one adapter must not stop the sweeps of other clusters.
        ports.troubles.report("cluster", cluster_path(*key), "a defect of its adapter; the log has it")
        log.exception("cluster %s cannot be queried", key[1], extra={"cluster": key[1]})
    return None


def _silent(ports: Ports, cluster_path: str, error: EngineError | TimeoutError) -> None:
    """Note since when a cluster does not answer, and its last error.

    An open breaker is not an error of the cluster.
    """
    text = sentence(Why("", str(error) or "no answer in time"))
    if isinstance(error, LeftAlone):
        text = ports.troubles.reasons("cluster").get(cluster_path, text)
    ports.troubles.report("cluster", cluster_path, text)
