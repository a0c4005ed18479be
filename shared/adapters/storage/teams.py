"""The document of teams, and the claims of each team's jobs, as rows of the ledger's table.

Partition `teams`: each row is guarded by its ETag.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Operation, Refused, Row, joined, split
from shared.core.cost.usage import Usage
from shared.core.errors import Unreadable
from shared.core.relations.claim import Claim
from shared.core.teams.document import StoredTeams, Teams, as_json
from shared.core.teams.teams_store import UnreadableTeams
from shared.core.teams.use import Lent, TeamUse, Used

_KEY = {"PartitionKey": "teams", "RowKey": "document"}
#: The numbers of a claim in a row, in this order; an older version wrote only the first two.
_CLAIM = ("nodes", "gpus", "gpu_hours", "cost", "returns", "person")


class TableTeams:
    """The port over the ledger's store."""

    def __init__(self, store: ShardedTable) -> None:
        self._store = store

    async def get(self) -> StoredTeams | None:
        """A point read."""
        row = await self._store.get(_KEY["PartitionKey"], _KEY["RowKey"])
        if row is None:
            return None
        try:
            return StoredTeams(self._store.read(row.row, teams_of), row.etag)
        except Unreadable as error:
            raise UnreadableTeams(row.etag) from error

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
        use = self._store.read(row.row, use_of)
        return replace(use, etag=row.etag)

    async def put_use(self, use: TeamUse) -> TeamUse | None:
        """A write that fails if another process wrote."""
        written = await self.put_uses([use])
        return written[0] if written is not None else None

    async def put_uses(self, uses: Sequence[TeamUse]) -> list[TeamUse] | None:
        """One transaction, which fails if another process wrote one of them."""
        verbs = [
            Operation("replace", row, use.etag) if use.etag else Operation("create", row)
            for use, row in zip(uses, map(_row_of, uses), strict=True)
        ]
        try:
            etags = await self._store.write_others(verbs)
        except Refused:
            return None
        return [replace(use, etag=etag) for use, etag in zip(uses, etags, strict=True)]


def teams_of(row: Row) -> Teams:
    """The document that the row holds."""
    return Teams.model_validate_json(joined("Text", row))


def document_row(teams: Teams) -> Row:
    """The one row that holds the teams of the deployment."""
    return {**_KEY, **split("Text", json.dumps(as_json(teams)))}


def _row_of(use: TeamUse) -> Row:
    """The row of a team's claims, with columns for loans only if there are some."""
    row: Row = {"PartitionKey": _KEY["PartitionKey"], "RowKey": f"u|{use.team}"}
    row |= {"Waiting": bool(use.waiting), "Line": json.dumps(use.waiting), "Months": json.dumps(use.months)}
    row |= split("Claims", json.dumps({job: _numbers(one) for job, one in use.claims.items()}))
    lent = {job: [one.team, *_numbers(one.claim)] for job, one in use.lent.items()}
    others = (("Loans", use.loans), ("Lent", lent), ("Returned", use.returned), ("HeldBack", use.held_back))
    for name, column in others:
        row |= split(name, json.dumps(column)) if column else {}
    return row


def _numbers(claim: Claim) -> list[Any]:
    numbers = [claim.nodes, claim.gpus, claim.gpu_hours, claim.cost]
    if claim.person:
        return [*numbers, claim.returns, claim.person]
    return [*numbers, claim.returns] if claim.returns else numbers


def _claim_of(numbers: Sequence[Any]) -> Claim:
    return Claim(**dict(zip(_CLAIM, numbers, strict=False)))


def use_of(row: Row) -> TeamUse:
    """The claims that a row holds."""
    lent = _column(row, "Lent")
    return TeamUse(
        str(row["RowKey"])[2:],
        {job: _claim_of(numbers) for job, numbers in json.loads(joined("Claims", row)).items()},
        tuple(json.loads(row.get("Line", "[]"))),
        {month: Usage(*numbers) for month, numbers in json.loads(row.get("Months", "{}")).items()},
        loans=_column(row, "Loans"),
        lent={job: Lent(team, _claim_of(numbers)) for job, (team, *numbers) in lent.items()},
        held_back=_column(row, "HeldBack"),
        returned={job: Used(*numbers) for job, numbers in _column(row, "Returned").items()},
    )


def _column(row: Row, name: str) -> dict[str, Any]:
    """A column that a row without loans does not have."""
    members: dict[str, Any] = json.loads(joined(name, row)) if f"{name}0" in row else {}
    return members
