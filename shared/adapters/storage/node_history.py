"""Histories of nodes as rows of the ledger's table, guarded by their ETags. Partition `nodes`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime

from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import ETAG, Operation, Range, Refused, Row, joined, split
from shared.core.ledger.node_history import NodeHistory, Point

_PARTITION = "nodes"


class TableNodeHistories:
    """The port over the ledger's store."""

    def __init__(self, store: ShardedTable) -> None:
        self._store = store
        #: as this process last wrote or read them; after another process's write, our next one is refused
        self._histories: dict[str, NodeHistory] = {}

    async def get(self, cluster: str) -> NodeHistory:
        """One point read in the life of a process. An unreadable row counts as empty, and is replaced."""
        if cluster in self._histories:
            return self._histories[cluster]
        row = await self._store.get(_PARTITION, _key(cluster))
        if row is None:
            return NodeHistory(cluster)
        history = self._store.perhaps(row.row, history_of) or NodeHistory(cluster)
        self._histories[cluster] = replace(history, version=row.etag)
        return self._histories[cluster]

    async def put(self, history: NodeHistory) -> NodeHistory | None:
        """A write that fails if another process wrote."""
        row = _row_of(history)
        verb = Operation("replace", row, history.version) if history.version else Operation("create", row)
        try:
            written = replace(history, version=await self._store.write_other(verb))
        except Refused:
            self._histories.pop(history.cluster, None)
            return None
        self._histories[history.cluster] = written
        return written

    async def all(self) -> dict[str, NodeHistory]:
        """One range query."""
        rows = await self._store.rows(Range(_PARTITION, "", "", etags=True))
        histories = self._store.legible(rows, history_of)
        return {one.cluster: one for one in histories}


def _key(cluster: str) -> str:
    return hashlib.sha256(cluster.encode()).hexdigest()[:32]


def _row_of(history: NodeHistory) -> Row:
    points = [[round(point.at.timestamp()), *(point.nodes or ())] for point in history.points]
    keys = {"PartitionKey": _PARTITION, "RowKey": _key(history.cluster)}
    most = {} if history.maximum is None else {"Maximum": history.maximum}
    return {**keys, "Cluster": history.cluster, **most, **split("Points", json.dumps(points))}


def history_of(row: Row) -> NodeHistory:
    """The history that a row holds."""
    points = (
        Point(datetime.fromtimestamp(int(at), UTC), tuple(map(int, nodes)) or None)
        for at, *nodes in json.loads(joined("Points", row))
    )
    most = int(row["Maximum"]) if "Maximum" in row else None
    return NodeHistory(str(row["Cluster"]), tuple(points), str(row.get(ETAG, "")), most)
