"""Reads the document of teams: every problem with its place. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from pydantic import ValidationError

from shared.core.account import CONTAINER_RULE, is_apps_own, is_container
from shared.core.caller import KEY_NAME, KEY_NAME_RULE
from shared.core.teams.document import MAX_MEMBERS, MAX_TEAMS, Team, Teams
from shared.jobspec import JsonObject, Problem, duration_flaw, name_flaw, problem, quote, step

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
#: The most levels of a folder, and the most characters of each.
_LEVELS, _LONGEST = 64, 255
_KINDS = ("user", "group", "role", "key")


class ReadTeams(NamedTuple):
    """The teams, or None if a problem forbids that; and all problems."""

    teams: Teams | None
    problems: tuple[Problem, ...]


def read_teams(
    document: JsonObject,
    clusters: Collection[str],
    own_containers: Collection[str] = (),
    secrets: Collection[str] = (),
) -> ReadTeams:
    """The teams of a document, or every problem with its place.

    `clusters` are those of the deployment, `own_containers` those in which only the app writes,
    and `secrets` the names of its webhook secrets.
    """
    try:
        teams = Teams.model_validate(document)
    except ValidationError as error:
        # Loads the models of the job file, which a good document does not need.
        from shared.jobspec import shape_problems

        return ReadTeams(None, tuple(shape_problems(Teams, document, error)))
    problems = (
        *_problems(teams, clusters),
        *_containers(teams, own_containers),
        *_secrets(teams, secrets),
    )
    return ReadTeams(None if problems else teams, problems)


def _problems(teams: Teams, clusters: Collection[str]) -> Iterator[Problem]:
    if teams.default is not None and teams.default not in teams.teams:
        yield _wrong("/default", f"there is no team {quote(teams.default)}", "name one of the teams below")
    if len(teams.teams) > MAX_TEAMS:
        yield _wrong("/teams", f"there are {len(teams.teams)} teams; {MAX_TEAMS} are allowed", "join some")
    owners: dict[str, str] = {}
    for name, team in teams.teams.items():
        place = step("/teams", name)
        if not _NAME.fullmatch(name):
            remedy = "use up to 64 letters, digits, - and _"
            yield _wrong(place, f"{quote(name)} cannot be the name of a team", remedy, of_name=True)
        yield from _members(place, team)
        if team.hold is not None and (flaw := duration_flaw(team.hold)):
            yield problem("SW050", f"{place}/hold", f"hold {flaw}")
        for index, cluster in enumerate(team.clusters or ()):
            if cluster not in clusters:
                names = ", ".join(sorted(clusters)) or "none"
                message = f"there is no cluster {quote(cluster)}"
                yield _wrong(f"{place}/clusters/{index}", message, f"configured clusters: {names}")
        for index, folder in enumerate(team.folders):
            yield from _folder(f"{place}/folders/{index}", folder, name, owners)


def _members(place: str, team: Team) -> Iterator[Problem]:
    if len(team.members) > MAX_MEMBERS:
        message = f"there are {len(team.members)} members; {MAX_MEMBERS} are allowed"
        yield _wrong(f"{place}/members", message, "name a group instead of its people")
    for index, member in enumerate(team.members):
        named = [kind for kind in _KINDS if getattr(member, kind) is not None]
        if len(named) != 1:
            message = (
                "a member is a user, a group, a role or a key; "
                f"here is {' and '.join(named) or 'none of them'}"
            )
            yield _wrong(f"{place}/members/{index}", message, "name exactly one")
        if member.key is not None and not KEY_NAME.fullmatch(member.key):
            message = f"{quote(member.key)} cannot be the name of a key"
            yield _wrong(f"{place}/members/{index}/key", message, f"a name has {KEY_NAME_RULE}")


def _folder(place: str, folder: str, team: str, owners: dict[str, str]) -> Iterator[Problem]:
    path = folder.strip("/")
    levels = path.split("/")
    flaw = name_flaw(path) or ("has an empty level" if "" in levels else "")
    flaw = flaw or ("is too long" if len(levels) > _LEVELS or max(map(len, levels)) > _LONGEST else "")
    if flaw:
        text = f"{quote(folder)} is not a folder of the drop container: it {flaw}"
        yield _wrong(place, text, "as vision/training")
    elif (other := owners.setdefault(path, team)) != team:
        yield _wrong(place, f"{quote(folder)} belongs to the team {quote(other)} already", "remove one")


def _containers(teams: Teams, own: Collection[str]) -> Iterator[Problem]:
    for name, team in teams.teams.items():
        for index, container in enumerate(team.containers):
            place = f"{step('/teams', name)}/containers/{index}"
            if not is_container(container):
                message = f"{quote(container)} is not the name of a container or a share"
                yield _wrong(place, message, CONTAINER_RULE)
            elif is_apps_own(container, own):
                message = f"{quote(container)} is the app's own, and no job gets a key for it"
                yield _wrong(place, message, "name another container")


def _secrets(teams: Teams, configured: Collection[str]) -> Iterator[Problem]:
    names = ", ".join(sorted(configured)) or "none"
    for name, team in teams.teams.items():
        for index, secret in enumerate(team.webhook_secrets):
            if secret not in configured:
                place = f"{step('/teams', name)}/webhookSecrets/{index}"
                yield _wrong(
                    place, f"there is no webhook secret {quote(secret)}", f"configured secrets: {names}"
                )


def _wrong(pointer: str, message: str, remedy: str, **more: Any) -> Problem:
    return problem("SW014", pointer, message, remedy, **more)
