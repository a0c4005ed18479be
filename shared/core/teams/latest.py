"""This process's copy of the document of teams. Costs a point read every few seconds."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from shared.core.pacing.memo import Memo
from shared.core.teams.document import StoredTeams, Teams
from shared.core.teams.store import TeamsStore

#: Seconds for which the copy is used.
_GOOD_FOR = 15.0
MEMO = "teams"
_NO_TEAMS = Teams()


class _Latest(NamedTuple):
    """The copy; None if there is no document."""

    stored: StoredTeams | None


async def latest_teams(store: TeamsStore, memo: Memo, now: datetime) -> Teams:
    """The teams of the deployment, as of a few seconds ago. Raises Unavailable, Unreadable."""

    async def ask() -> _Latest:
        return _Latest(await store.get())

    latest = await memo.get_or_last(MEMO, now, _GOOD_FOR, ask)
    return latest.stored.teams if latest.stored is not None else _NO_TEAMS
