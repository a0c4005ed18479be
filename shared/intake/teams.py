"""teams: the team of a request, and those of its caller. Costs one point read every few seconds."""

from __future__ import annotations

import logging
from dataclasses import replace

from shared.core.caller import ADMIN, Caller
from shared.core.ports import Ports
from shared.core.teams.membership import share_of_caller, share_of_folder, share_of_uploader, teams_of
from shared.core.teams.store import UnreadableTeams
from shared.intake.message import Request
from shared.lifecycle.current_teams import current_teams

log = logging.getLogger(__name__)


async def with_teams(ports: Ports, who: Caller) -> Caller:
    """The caller with the teams that they are in.

    Raises Unreadable if the document cannot be read, but not for an operator: they may do everything without
    a team, and one of them has to replace it.
    """
    try:
        teams = await current_teams(ports)
    except UnreadableTeams as error:
        if ADMIN not in who.roles:
            raise
        log.warning("%s goes on without teams: %s", who.id or "an operator", error)
        return who
    return replace(who, teams=teams_of(who, teams)) if teams.teams else who


async def with_share(ports: Ports, request: Request, who: Caller, folder: str | None = None) -> Request:
    """The request with its team, and a problem where that is not possible.

    `folder` is that of a drop, which belongs to the folder's team; a problem, too, if the caller, who is
    about to upload it, would not see its job.
    """
    teams, named = await current_teams(ports), request.envelope.team or ""
    if not teams.teams and not named and (folder is None or who.sees_all):
        return request
    at = f"{request.envelope_at}/team" if named else request.envelope_at
    if folder is None:
        share = share_of_caller(who, teams, named, at)
    else:
        share = share_of_uploader(who, share_of_folder(folder, teams, named, at), teams, at)
    share = replace(share, secrets_of_others=teams.secrets_of_others(share.team))
    return replace(request, share=share, problems=(*request.problems, *share.problems))
