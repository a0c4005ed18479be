"""current_teams: this process's copy of the document of teams. Costs a point read every few seconds."""

from __future__ import annotations

from collections.abc import Callable

from shared.core.errors import Misconfigured, Unreadable
from shared.core.pacing.memo import Memo
from shared.core.ports import Ports
from shared.core.teams.document import Teams
from shared.core.teams.teams_store import MEMO, latest_teams


async def current_teams(ports: Ports) -> Teams:
    """The teams of the deployment, as of a few seconds ago. Raises Unavailable, Unreadable."""
    return await latest_teams(ports.teams, ports.memo, ports.clock())


async def readable_beside(ports: Ports, folder: str) -> Callable[[str], bool]:
    """Whether the job of a folder may use dropped files of another one: if both are of one team.

    A team reads the code of its jobs, so their archives are a way to read files. Costs a point read every few
    seconds.
    """
    teams = await current_teams(ports)
    own = teams.of_drop(folder)
    return lambda other: teams.of_drop(other) == own


async def containers_of(ports: Ports, team: str) -> frozenset[str]:
    """What jobs of a team may mount beside what all may. Raises Unavailable, Misconfigured."""
    try:
        one = (await current_teams(ports)).teams.get(team)
    except Unreadable as error:
        raise Misconfigured(str(error)) from error
    return frozenset(one.containers) if one is not None else frozenset()


def forget_teams(memo: Memo) -> None:
    """Drop the copy, so that the next request reads the document again."""
    memo.forget(MEMO)
