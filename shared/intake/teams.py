"""teams: those that a caller is in. Costs one point read every few seconds."""

from __future__ import annotations

import logging
from dataclasses import replace

from shared.core.caller import ADMIN, Caller
from shared.core.ports import Ports
from shared.core.teams.membership import teams_of
from shared.core.teams.teams_store import UnreadableTeams
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
