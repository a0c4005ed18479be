"""The ports whose data are rows of the ledger's table."""

from __future__ import annotations

from typing import NamedTuple

from shared.adapters.storage.dead import TableDeadMessages
from shared.adapters.storage.finished_rows import TableFinishedJobs
from shared.adapters.storage.job_sweeps import TableJobSweeps
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.node_history import TableNodeHistories
from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.teams import TableTeams


class Tables(NamedTuple):
    """One adapter for each port, named as in `Ports`."""

    ledger: TableLedger
    outbox: TableOutbox
    dead: TableDeadMessages
    finished: TableFinishedJobs
    node_histories: TableNodeHistories
    job_sweeps: TableJobSweeps
    teams: TableTeams


def tables(store: ShardedTable) -> Tables:
    """All these adapters, over one store."""
    return Tables(
        TableLedger(store),
        TableOutbox(store),
        TableDeadMessages(store),
        TableFinishedJobs(store),
        TableNodeHistories(store),
        TableJobSweeps(store),
        TableTeams(store),
    )
