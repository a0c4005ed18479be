"""The document of teams as one row of the ledger's table, guarded by its ETag. Partition `teams`."""

from __future__ import annotations

import json

from shared.adapters.storage.store import Store
from shared.adapters.storage.table import Operation, Refused, joined, split
from shared.core.errors import Unreadable
from shared.core.teams.document import StoredTeams, Teams, as_json

_KEY = {"PartitionKey": "teams", "RowKey": "document"}


class TableTeams:
    """The port over the ledger's store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self) -> StoredTeams | None:
        """A point read. Raises Unreadable: without its teams no deployment may guess who is in which."""
        row = await self._store.get(_KEY["PartitionKey"], _KEY["RowKey"])
        if row is None:
            return None
        try:
            return StoredTeams(Teams.model_validate_json(joined("Text", row.row)), row.etag)
        except (ValueError, KeyError) as error:
            raise Unreadable("row teams|document of the ledger", "Text") from error

    async def put(self, teams: Teams, etag: str) -> StoredTeams | None:
        """A write that fails if another process wrote."""
        row = {**_KEY, **split("Text", json.dumps(as_json(teams)))}
        verb = Operation("replace", row, etag) if etag else Operation("create", row)
        try:
            return StoredTeams(teams, await self._store.write_other(verb))
        except Refused:
            return None
