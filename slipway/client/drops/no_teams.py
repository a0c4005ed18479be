"""No teams, in place of those of a deployment, whose records a command does not read."""

from __future__ import annotations

from collections.abc import Sequence

from shared.core.teams.document import StoredTeams, Teams
from shared.core.teams.use import TeamUse


class NoTeams:
    """The port to the teams, of which there are none: all files that lie here are of one owner."""

    async def get(self) -> StoredTeams | None:
        """Never a document."""
        return None

    async def put(self, teams: Teams, etag: str) -> StoredTeams | None:
        """Not written."""
        return None

    async def use(self, team: str) -> TeamUse:
        """Empty."""
        return TeamUse(team, {})

    async def put_use(self, use: TeamUse) -> TeamUse | None:
        """Not written."""
        return None

    async def put_uses(self, uses: Sequence[TeamUse]) -> list[TeamUse] | None:
        """Not written."""
        return None
