"""The teams of a caller, and the team that a new job belongs to. Pure."""

from __future__ import annotations

from shared.core.caller import ADMIN, Caller
from shared.core.refusals import refused
from shared.core.teams.document import Membership, Team, Teams
from shared.core.teams.share import Share
from shared.jobspec import hold_length


def teams_of(who: Caller, teams: Teams) -> dict[str, bool]:
    """The caller's teams in the order of the document; True if the caller manages the team.

    A caller who is named in none belongs to the default team.
    """
    own: dict[str, bool] = {}
    for name, team in teams.teams.items():
        named = [one for one in team.members if _is(one, who)]
        if named:
            own[name] = any(one.manager for one in named)
    return own or ({teams.default: False} if teams.default is not None else {})


def _is(member: Membership, who: Caller) -> bool:
    """Whether a member is the caller. A key's name is not an object id, even if it looks like one."""
    if who.key:
        return member.key == who.key
    return member.user == who.id or member.group in who.groups or member.role in who.app_roles


def share_of_caller(who: Caller, teams: Teams, named: str, at: str) -> Share:
    """The team of a caller's job: the `named` one, else the caller's first.

    `at`: the place of the name. An operator may name any team, and may use none if there is no default. So
    may a message of the queue, since storage roles do not distinguish its writers.
    """
    is_operator = ADMIN in who.roles
    own = teams.teams if is_operator else who.teams
    if named and named not in own:
        message = f'there is no team "{named}"' if is_operator else f'you are in no team "{named}"'
        return _refused(at, message, f"write one of: {', '.join(own)}" if own else "leave it out")
    name = named or next(iter(who.teams), teams.default or "")
    if not name and not is_operator:
        message = "you are not in a team of this deployment, and it does not have a default team"
        return _refused(at, message, "ask its operator to add you to one")
    return share_in(teams, name)


def share_of_folder(folder: str, teams: Teams, named: str, at: str) -> Share:
    """The team of a drop: the one that owns the folder, else the default. A name can only confirm it."""
    name = teams.of_drop(folder)
    if named and named != name:
        belongs = (
            f'jobs of this folder belong to the team "{name}"' if name else "this folder belongs to no team"
        )
        return _refused(at, f'{belongs}, not to "{named}"', "leave it out, or use a folder of that team")
    return share_in(teams, name)


def share_of_uploader(who: Caller, share: Share, teams: Teams, at: str) -> Share:
    """The share of a drop; only a problem if the caller who is about to upload it would not see its job.

    Then nothing is judged by what that team may use, which is not the caller's to know.
    """
    if who.sees_all or (share.team and share.team in who.teams) or share.problems:
        return share
    folders = [one for name in who.teams if name in teams.teams for one in teams.teams[name].folders]
    own = ", ".join(one.strip("/") + "/" for one in folders)
    belongs = "belong to another team" if share.team else "belong to no caller"
    message = f"jobs of this folder {belongs}, so you could not see, follow or cancel this one"
    remedy = (
        f"use a folder below {own}"
        if own
        else "send the job over HTTP (slipway submit), or ask the operator for a folder of your team"
    )
    return _refused(at, message, remedy)


def share_in(teams: Teams, name: str) -> Share:
    """What jobs of a team may use: nothing if the team no longer exists."""
    of_others = teams.secrets_of_others(name)
    if not name:
        return Share(secrets_of_others=of_others)
    team = teams.teams.get(name, Team(clusters=()))
    clusters = None if team.clusters is None else frozenset(team.clusters)
    hold = None if team.hold is None else hold_length(team.hold)
    containers = frozenset(team.containers)
    return Share(name, clusters, team.quota, containers, hold=hold, secrets_of_others=of_others)


def _refused(at: str, message: str, remedy: str) -> Share:
    return Share(problems=(refused("SW113", at, message, remedy),))
