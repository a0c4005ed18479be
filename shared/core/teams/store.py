"""The port to the document of teams, and to what their jobs have claimed. Pure."""

from __future__ import annotations

from typing import Protocol

from shared.core.teams.document import StoredTeams, Teams
from shared.core.teams.use import TeamUse


class TeamsStore(Protocol):
    """Where the document of teams is kept. Raises Unavailable."""

    async def get(self) -> StoredTeams | None:
        """The document; None while there is none."""

    async def put(self, teams: Teams, etag: str) -> StoredTeams | None:
        """Write it if that is still its ETag ("" for none yet); None where it is not."""

    async def use(self, team: str) -> TeamUse:
        """What a team's jobs have claimed of its quota; nothing while there is no record."""

    async def put_use(self, use: TeamUse) -> TeamUse | None:
        """Write it if that is still its ETag; None where it is not."""
