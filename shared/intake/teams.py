"""teams: the team of a request, and those of its caller. Costs one point read in some seconds."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from shared.core.caller import Caller
from shared.core.ports import Ports
from shared.core.teams.document import StoredTeams, Teams
from shared.core.teams.membership import share_of_caller, share_of_folder, teams_of
from shared.intake.message import Request

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


async def with_teams(ports: Ports, who: Caller) -> Caller:
    """The caller with the teams that they are in."""
    teams = await current_teams(ports)
    return replace(who, teams=teams_of(who, teams)) if teams.teams else who


async def with_share(ports: Ports, request: Request, who: Caller, folder: str | None = None) -> Request:
    """The request with its team, and a problem where that is not possible.

    `folder` is that of a drop, which belongs to the folder's team.
    """
    teams, named = await current_teams(ports), request.envelope.team or ""
    if not teams.teams and not named:
        return request
    at = f"{request.envelope_at}/team" if named else request.envelope_at
    if folder is None:
        share = share_of_caller(who, teams, named, at)
    else:
        share = share_of_folder(folder, teams, named, at)
    return replace(request, share=share, problems=(*request.problems, *share.problems))
