"""The pool of one cluster: its state, read now and then, and its autoscale formula."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from shared.core.engine import ClusterView
from shared.core.errors import EngineError, Misconfigured
from shared.engines.batch.account import Account
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.node_faults import FILTER, MENDED, SELECT, faults, is_mended, may_restart
from shared.engines.batch.pools import error_text, nodes_in, slots_of, target_of, view
from shared.engines.batch.scaling import INTERVAL, Demand, formula
from shared.engines.batch.wire.client import BatchClient

log = logging.getLogger(__name__)

#: Seconds between two formulas, of which the service takes no more. And seconds until a formula that did not
#: bring enough nodes is written again: the service evaluates a new one at once, an old one every five
#: minutes.
_PAUSE, _AGAIN = 30.0, 60.0
#: The codes for a node that is not rebooted in its state; only one that is idle or runs is, as documented.
_NOT_REBOOTED = ("NodeNotReady", "NodeStateUnusable")


class Pool:
    """The pool of one cluster."""

    def __init__(
        self, cluster: BatchCluster, client: BatchClient, account: Account, clock: Callable[[], float]
    ) -> None:
        self._cluster, self._client, self._account, self._clock = cluster, client, account, clock
        #: the last known formula of the pool, and when one was last written
        self._formula, self._written = "", float("-inf")
        #: the number of nodes that the pool is resizing to
        self._target = 0
        #: how many tasks on one node share it, by the last view
        self.slots = 1
        #: the problem with the last formula
        self._trouble = ""
        #: the errors of the last resize that ended, and the nodes of the last view
        self._resize_errors: Sequence[Any] = ()
        self._nodes = 0
        #: the nodes of the last view that cannot run jobs, until they are rebooted or removed
        self._failed: Sequence[Mapping[str, Any]] = ()
        #: since when nodes fail one after the other, and what was last said of them
        self._failing_since: datetime | None = None
        self._faults: tuple[str, ...] = ()

    async def view(self) -> ClusterView:
        """The current pool, by two calls; once an hour a third one asks for the account's quota."""
        name = self._cluster.pool
        pool = (await self._client.call("GET", f"/pools/{name}")).document
        counts: Mapping[str, Any] = {}
        async for one in self._client.listed("/nodecounts", filter=f"poolId eq '{name}'"):
            if one.get("poolId") == name:
                counts = one
        self._formula = str(pool.get("autoScaleFormula") or "") if pool.get("enableAutoScale") else ""
        self._target, self.slots = target_of(pool), slots_of(pool)
        quota = await self._account.quota(str(pool.get("vmSize") or ""))
        current = view(self._cluster, self._with_last_errors(pool), counts, quota)
        self._failed = await self._failed_nodes() if current.counts["unusable"] else []
        errors = (*current.errors, *filter(None, [self._trouble]), *self._faults_of(current))
        return replace(current, errors=errors)

    def _faults_of(self, current: ClusterView) -> tuple[str, ...]:
        """What is said of nodes that failed: also while they, or others in their place, start anew."""
        if self._failed:
            self._failing_since = self._failing_since or self._now()
            is_ours = self._cluster.scales and is_mended(self._failing_since, self._now())
            self._faults = faults(self._failed, self._failing_since + MENDED if is_ours else None)
        elif current.state == "steady" and not current.counts["preparing"]:
            self._failing_since, self._faults = None, ()
        elif not is_mended(self._failing_since, self._now()):
            self._faults = ()
        return self._faults

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)

    def _with_last_errors(self, pool: Mapping[str, Any]) -> Mapping[str, Any]:
        """The pool, while it is being resized with the errors of the last resize, unless nodes came since.

        The service shows them only between two resizes, and Slipway itself begins the next one.
        """
        nodes = nodes_in(pool)
        if pool.get("allocationState") == "steady" or nodes > self._nodes:
            self._resize_errors = pool.get("resizeErrors") or ()
        self._nodes = nodes
        return {**pool, "resizeErrors": self._resize_errors}

    async def _failed_nodes(self) -> Sequence[Mapping[str, Any]]:
        """The nodes whose start task failed, or that are unusable."""
        nodes = self._client.listed(f"/pools/{self._cluster.pool}/nodes", filter=FILTER, select=SELECT)
        try:
            return [one async for one in nodes]
        except EngineError as error:
            log.warning("the nodes of %s that failed cannot be read: %s", self._cluster.name, error)
            return []

    async def restart_failed(self) -> None:
        """Reboot the nodes that failed a short time ago, of a pool that is ours to scale, or remove them.

        Errors are logged, so no job fails because of them.
        """
        failed, self._failed = self._failed if self._cluster.scales else [], []
        now = self._now()
        if not is_mended(self._failing_since, now):
            return
        for name in (str(one.get("id") or "") for one in failed if may_restart(one, now)):
            try:
                verb = await self._restart(name)
            except EngineError as error:
                log.warning("the node %s of %s is not rebooted: %s", name, self._cluster.name, error)
            else:
                log.warning("the node %s of %s had failed and is %s", name, self._cluster.name, verb)

    async def _restart(self, name: str) -> str:
        """Reboot a node, or remove it if the service does not reboot it: the formula brings another one."""
        pool, body = self._cluster.pool, {"nodeRebootOption": "requeue"}
        answer = await self._client.call(
            "POST", f"/pools/{pool}/nodes/{name}/reboot", body, accept=_NOT_REBOOTED
        )
        if not answer.code:
            return "rebooted"
        await self._client.call("POST", f"/pools/{pool}/removenodes", {"nodeList": [name]})
        return "removed"

    async def scale(self, demand: Demand) -> None:
        """Write the formula for the current demand, if the pool has another one or too few nodes.

        Errors are logged and shown, never raised, so no job fails because of them.
        """
        text = formula(self._cluster, demand)
        has_changed = text != self._formula
        is_short = self._target < min(demand.total, self._cluster.max_nodes)
        if not self._cluster.scales or not (has_changed or is_short):
            return
        if 0 <= self._clock() - self._written < (_PAUSE if has_changed else _AGAIN):
            return
        self._written = self._clock()
        try:
            await self._write(text)
        except EngineError as error:
            log.warning("the pool of %s cannot be scaled: %s", self._cluster.name, error)
            # Transient errors are tried again; errors that an operator has to correct are shown.
            self._trouble = str(error) if isinstance(error, Misconfigured) else self._trouble

    async def _write(self, text: str) -> None:
        path = f"/pools/{self._cluster.pool}"
        body = {"autoScaleFormula": text, "autoScaleEvaluationInterval": INTERVAL}
        await self._client.call("POST", f"{path}/enableautoscale", body)
        self._formula = text
        # Errors in the formula come with status 200.
        run = (await self._client.call("POST", f"{path}/evaluateautoscale", {"autoScaleFormula": text})).body
        self._trouble = error_text(run["error"]) if isinstance(run.get("error"), Mapping) else ""
        if self._trouble:
            log.error("the formula of the pool of %s is wrong: %s", self._cluster.name, self._trouble)
