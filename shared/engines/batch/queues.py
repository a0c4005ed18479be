"""The Batch jobs of one cluster, which hold its tasks: their states, read now and then."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from shared.core.engine import Why
from shared.core.errors import EngineError
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.wire.client import BatchClient

log = logging.getLogger(__name__)

#: Seconds for which the states are recent enough.
_GOOD = 30.0
#: States in which a Batch job starts no task: until it is enabled, and for good.
_DISABLED, _FINAL = ("disabled", "disabling"), ("terminating", "completed", "deleting")


class Queues:
    """The Batch jobs of one cluster. `clock` gives Unix time."""

    def __init__(self, cluster: BatchCluster, client: BatchClient, clock: Callable[[], float]) -> None:
        self._cluster, self._client, self._clock = cluster, client, clock
        self._states: Mapping[str, str] = {}
        self._read_at = float("-inf")

    async def states(self) -> Mapping[str, str]:
        """The state of each Batch job, as far as it is known. Never raises."""
        if 0 <= self._clock() - self._read_at <= _GOOD:
            return self._states
        self._read_at = self._clock()
        named = " or ".join(f"id eq '{queue}'" for queue in self._cluster.queues.values())
        jobs = self._client.listed("/jobs", filter=named, select="id,state")
        try:
            self._states = {str(one.get("id")): str(one.get("state")) async for one in jobs}
        except EngineError as error:
            log.warning("the Batch jobs of %s cannot be read: %s", self._cluster.name, error)
        return self._states


def disabled(queue: str, states: Mapping[str, str]) -> Why | None:
    """Why the tasks of a Batch job wait that was disabled; None for any other."""
    if states.get(queue) not in _DISABLED:
        return None
    text = f"the Batch job {queue} was disabled: `az batch job enable --job-id {queue}` ends that"
    return Why("BatchJobDisabled", text)


def is_over(queue: str, states: Mapping[str, str]) -> bool:
    """Whether a Batch job was terminated, so that none of its waiting tasks starts any more."""
    return states.get(queue) in _FINAL
