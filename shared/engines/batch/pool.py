"""The pool of one cluster: asked now and then what it is like, and told how many nodes it should have."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from shared.core.engine import ClusterView
from shared.core.errors import EngineError, Misconfigured
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.pools import target_of, view
from shared.engines.batch.scaling import INTERVAL, Demand, formula
from shared.engines.batch.wire.client import BatchClient

log = logging.getLogger(__name__)

#: Seconds between two formulas: the service refuses more. And after which one is written again that has not
#: led to enough nodes: the service looks at it then, and else every five minutes.
_PAUSE, _AGAIN = 30.0, 60.0


class Pool:
    """The pool of one cluster."""

    def __init__(self, cluster: BatchCluster, client: BatchClient, clock: Callable[[], float]) -> None:
        self._cluster, self._client, self._clock = cluster, client, clock
        #: the formula that the pool has, as far as that is known, and when one was written last
        self._formula, self._written = "", float("-inf")
        #: the number of nodes that it grows or shrinks to
        self._target = 0
        #: what was wrong with the last one
        self._trouble = ""

    async def view(self) -> ClusterView:
        """The pool as it is now, by two calls."""
        name = self._cluster.pool
        pool = (await self._client.call("GET", f"/pools/{name}")).document
        counts: Mapping[str, Any] = {}
        async for one in self._client.listed("/nodecounts", filter=f"poolId eq '{name}'"):
            if one.get("poolId") == name:
                counts = one
        self._formula = str(pool.get("autoScaleFormula") or "") if pool.get("enableAutoScale") else ""
        self._target = target_of(pool)
        current = view(self._cluster, pool, counts)
        return replace(current, errors=(*current.errors, self._trouble)) if self._trouble else current

    async def scale(self, demand: Demand) -> None:
        """Write the formula for what its tasks need, if the pool has another one, or too few nodes come.

        It fails no job.
        """
        text = formula(self._cluster, demand)
        has_changed = text != self._formula
        is_short = self._target < min(demand.total, self._cluster.max_nodes)
        if not self._cluster.scales or not (has_changed or is_short):
            return
        if self._clock() < self._written + (_PAUSE if has_changed else _AGAIN):
            return
        self._written = self._clock()
        try:
            await self._write(text)
        except EngineError as error:
            log.warning("the pool of %s cannot be scaled: %s", self._cluster.name, error)
            # What passes by itself is tried again; what an operator has to mend is shown.
            self._trouble = str(error) if isinstance(error, Misconfigured) else self._trouble

    async def _write(self, text: str) -> None:
        path = f"/pools/{self._cluster.pool}"
        body = {"autoScaleFormula": text, "autoScaleEvaluationInterval": INTERVAL}
        await self._client.call("POST", f"{path}/enableautoscale", body)
        self._formula = text
        # An error in it comes with status 200.
        run = (await self._client.call("POST", f"{path}/evaluateautoscale", {"autoScaleFormula": text})).body
        error = run.get("error") or {}
        values = {one.get("name"): one.get("value") for one in error.get("values") or ()}
        words = (error.get("code"), error.get("message") or values.get("Message"))
        self._trouble = ": ".join(str(word) for word in words if word)
        if self._trouble:
            log.error("the formula of the pool of %s is wrong: %s", self._cluster.name, self._trouble)
