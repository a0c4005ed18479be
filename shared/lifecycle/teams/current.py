"""current: the document of teams as this process knows it. Costs one point read in some seconds."""

from __future__ import annotations

from typing import NamedTuple

from shared.core.ports import Ports
from shared.core.teams.document import StoredTeams, Teams

#: Seconds for which the document of teams is good.
_GOOD_FOR = 15.0
_MEMO = "teams"
_NO_TEAMS = Teams()


class _Latest(NamedTuple):
    """The document; None while there is none."""

    stored: StoredTeams | None


async def current_teams(ports: Ports) -> Teams:
    """The teams of the deployment, as they were some seconds ago. Raises Unavailable, Unreadable."""

    async def ask() -> _Latest:
        return _Latest(await ports.teams.get())

    latest = await ports.memo.get_or_last(_MEMO, ports.clock(), _GOOD_FOR, ask)
    return latest.stored.teams if latest.stored is not None else _NO_TEAMS


def forget_teams(ports: Ports) -> None:
    """Read the document again at the next request of this process."""
    ports.memo.forget(_MEMO)
