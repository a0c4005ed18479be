"""The teams of a deployment, where it is not asked: then no folder belongs to another team."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shared.core.ports import Drops, Ports
from shared.core.teams.document import StoredTeams, Teams
from shared.core.teams.use import TeamUse


class NoTeams:
    """Has no document, and takes none. Who drops files may write blobs, and need not read the ledger."""

    async def get(self) -> StoredTeams | None:
        """None."""
        return None

    async def put(self, teams: Teams, etag: str) -> StoredTeams | None:
        """None: nothing is written."""
        return None

    async def use(self, team: str) -> TeamUse:
        """No claims."""
        return TeamUse(team, {})

    async def put_use(self, use: TeamUse) -> TeamUse | None:
        """None: nothing is written."""
        return None

    async def put_uses(self, uses: Sequence[TeamUse]) -> list[TeamUse] | None:
        """None: nothing is written."""
        return None


def with_files(ports: Ports, drops: Drops) -> Ports:
    """The ports to judge files by that are not dropped yet."""
    return replace(ports, drops=drops, teams=NoTeams())
