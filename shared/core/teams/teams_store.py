"""The port to the stored document of teams, and to the claims of their jobs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from shared.core.errors import Unreadable
from shared.core.ledger.kinds import remedy_for
from shared.core.pacing.memo import Memo
from shared.core.teams.document import StoredTeams, Teams
from shared.core.teams.use import TeamUse


class UnreadableTeams(Unreadable):
    """The document is damaged, or a newer version wrote it; its ETag lets an operator replace it."""

    def __init__(self, etag: str) -> None:
        super().__init__("row teams/document of the ledger", "Text", remedy_for("teams/document"))
        self.etag = etag


class TeamsStore(Protocol):
    """Stores the document of teams. Raises Unavailable."""

    async def get(self) -> StoredTeams | None:
        """The document; None if there is none. Raises UnreadableTeams: membership must not be guessed."""

    async def put(self, teams: Teams, etag: str) -> StoredTeams | None:
        """Write the document if the stored one still has its ETag ("" for none); otherwise None."""

    async def use(self, team: str) -> TeamUse:
        """The claims of a team's jobs on its quota; empty if there is no record."""

    async def put_use(self, use: TeamUse) -> TeamUse | None:
        """Write the claims if the stored record still has their ETag; otherwise None."""

    async def put_uses(self, uses: Sequence[TeamUse]) -> list[TeamUse] | None:
        """Write those of several teams, all or none; None if a stored record has another ETag."""


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
