"""The document of teams, and what the jobs of each have claimed, as rows of the ledger's table.

Partition `teams`: each row is guarded by its ETag.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from shared.adapters.storage.store import Store
from shared.adapters.storage.table import Operation, Refused, Row, joined, split
from shared.core.cost.usage import Usage
from shared.core.errors import Unreadable
from shared.core.relations.claim import Claim
from shared.core.teams.document import StoredTeams, Teams, as_json
from shared.core.teams.use import TeamUse

_KEY = {"PartitionKey": "teams", "RowKey": "document"}
#: The numbers of a claim in a row, in this order; an older version wrote only the first two.
_CLAIM = ("nodes", "gpus", "gpu_hours", "cost")


class TableTeams:
    """The port over the ledger's store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self) -> StoredTeams | None:
        """A point read. Raises Unreadable: without the document, membership must not be guessed."""
        row = await self._store.get(_KEY["PartitionKey"], _KEY["RowKey"])
        if row is None:
            return None
        try:
            return StoredTeams(Teams.model_validate_json(joined("Text", row.row)), row.etag)
        except (ValueError, KeyError) as error:
            raise Unreadable("row teams|document of the ledger", "Text") from error

    async def put(self, teams: Teams, etag: str) -> StoredTeams | None:
        """A write that fails if another process wrote."""
        row = document_row(teams)
        verb = Operation("replace", row, etag) if etag else Operation("create", row)
        try:
            return StoredTeams(teams, await self._store.write_other(verb))
        except Refused:
            return None

    async def use(self, team: str) -> TeamUse:
        """A point read. Raises Unreadable: without the claims, the quota could be exceeded."""
        row = await self._store.get(_KEY["PartitionKey"], f"u|{team}")
        if row is None:
            return TeamUse(team, {})
        use = self._store.read(row.row, _use_of)
        return replace(use, etag=row.etag)

    async def put_use(self, use: TeamUse) -> TeamUse | None:
        """A write that fails if another process wrote."""
        claims = {job: [one.nodes, one.gpus, one.gpu_hours, one.cost] for job, one in use.claims.items()}
        row: Row = {"PartitionKey": _KEY["PartitionKey"], "RowKey": f"u|{use.team}"}
        row |= {
            "Waiting": bool(use.waiting),
            "Line": json.dumps(use.waiting),
            "Months": json.dumps(use.months),
        }
        row |= split("Claims", json.dumps(claims))
        verb = Operation("replace", row, use.etag) if use.etag else Operation("create", row)
        try:
            return replace(use, etag=await self._store.write_other(verb))
        except Refused:
            return None


def document_row(teams: Teams) -> Row:
    """The row that holds them all."""
    return {**_KEY, **split("Text", json.dumps(as_json(teams)))}


def _use_of(row: Row) -> TeamUse:
    written: dict[str, list[Any]] = json.loads(joined("Claims", row))
    claims = {job: Claim(**dict(zip(_CLAIM, numbers, strict=False))) for job, numbers in written.items()}
    months: dict[str, list[Any]] = json.loads(row.get("Months", "{}"))
    return TeamUse(
        str(row["RowKey"])[2:],
        claims,
        tuple(json.loads(row.get("Line", "[]"))),
        {month: Usage(*numbers) for month, numbers in months.items()},
    )
