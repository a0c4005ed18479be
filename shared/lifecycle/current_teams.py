"""current_teams: this process's copy of the document of teams. Costs a point read every few seconds."""

from __future__ import annotations

from typing import NamedTuple

from shared.core.errors import Misconfigured, Unreadable
from shared.core.ports import Ports
from shared.core.teams.document import StoredTeams, Teams

#: Seconds for which the copy is used.
_GOOD_FOR = 15.0
_MEMO = "teams"
_NO_TEAMS = Teams()


class _Latest(NamedTuple):
    """The copy; None if there is no document."""

    stored: StoredTeams | None


async def current_teams(ports: Ports) -> Teams:
    """The teams of the deployment, as of a few seconds ago. Raises Unavailable, Unreadable."""

    async def ask() -> _Latest:
        return _Latest(await ports.teams.get())

    latest = await ports.memo.get_or_last(_MEMO, ports.clock(), _GOOD_FOR, ask)
    return latest.stored.teams if latest.stored is not None else _NO_TEAMS


async def containers_of(ports: Ports, team: str) -> frozenset[str]:
    """What jobs of a team may mount beside what all may. Raises Unavailable, Misconfigured."""
    try:
        one = (await current_teams(ports)).teams.get(team)
    except Unreadable as error:
        raise Misconfigured(str(error)) from error
    return frozenset(one.containers) if one is not None else frozenset()


def forget_teams(ports: Ports) -> None:
    """Drop the copy, so that the next request reads the document again."""
    ports.memo.forget(_MEMO)
