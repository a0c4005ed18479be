"""share: the team of a job, with what its jobs may use. Costs one point read every few seconds."""

from __future__ import annotations

from dataclasses import replace

from shared.core.ports import Ports
from shared.core.teams.membership import share_in, share_of_caller, share_of_folder, share_of_uploader
from shared.intake.candidate import Candidate
from shared.intake.message import Request
from shared.lifecycle.current_teams import current_teams


async def with_share(ports: Ports, candidate: Candidate) -> Request:
    """The request with its team, and a problem where that is not possible.

    A drop belongs to the team of its folder; there is a problem, too, if a caller who is about to upload it
    would not see its job. A job of a sweep belongs to the team of its sweep.
    """
    request, who = candidate.request, candidate.who
    teams, named = await current_teams(ports), request.envelope.team or ""
    if candidate.member is not None:
        return replace(request, share=share_in(teams, candidate.team))
    folder = candidate.folder if not candidate.rerun_of else None
    if not teams.teams and not named and (folder is None or who.sees_all):
        return request
    at = f"{request.envelope_at}/team" if named else request.envelope_at
    if folder is None:
        share = share_of_caller(who, teams, named, at)
    else:
        share = share_of_uploader(who, share_of_folder(folder, teams, named, at), teams, at)
    share = replace(share, secrets_of_others=teams.secrets_of_others(share.team))
    return replace(request, share=share, problems=(*request.problems, *share.problems))
