"""The port to the document of teams. Pure."""

from __future__ import annotations

from typing import Protocol

from shared.core.teams.document import StoredTeams, Teams


class TeamsStore(Protocol):
    """Where the document of teams is kept. Raises Unavailable."""

    async def get(self) -> StoredTeams | None:
        """The document; None while there is none."""

    async def put(self, teams: Teams, etag: str) -> StoredTeams | None:
        """Write it if that is still its ETag ("" for none yet); None where it is not."""
