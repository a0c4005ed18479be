"""A cluster that has nothing to do: a job has succeeded the moment it is submitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shared.core.engine import Cluster, Engine, Observation, Order
from shared.core.job import JobState, Target
from tests.doubles.memory_engine import MemoryEngine

_ENDED = Observation(JobState.SUCCEEDED, exit_code=0)


class Noop(MemoryEngine):
    """Takes every job and says that it has succeeded."""

    async def submit(self, order: Order) -> Observation | None:
        """The end of the job."""
        return _ENDED

    async def status(self, cluster: str, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """The same end of each of them."""
        return {target.name: _ENDED for target in targets}


class NoopEngines:
    """One such engine for clusters of any kind."""

    def __init__(self, clusters: Mapping[str, Cluster], engine: Noop) -> None:
        self.clusters = clusters
        self._engine = engine

    def get(self, engine: str) -> Engine:
        """The engine of every name."""
        return self._engine
