"""The document of teams.

A deployment has one; it is replaced as a whole, and every process reads it. Pure.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from pydantic import Field, ValidationError

from shared.core.account import CONTAINER_RULE, is_apps_own, is_container
from shared.core.caller import KEY_NAME, KEY_NAME_RULE
from shared.jobspec import (
    Items,
    JsonObject,
    Model,
    Problem,
    Text,
    name_flaw,
    problem,
    quote,
    step,
)

#: The most teams of a document, members of a team, and bytes of the document, which is one entity of the
#: ledger.
MAX_TEAMS, MAX_MEMBERS, MAX_BYTES = 200, 1_000, 256 << 10
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
#: The most levels of a folder, and the most characters of each.
_LEVELS, _LONGEST = 64, 255
_KINDS = ("user", "group", "role", "key")
_Amount = Annotated[float, Field(ge=0, lt=1e12)]


class Membership(Model):
    """A member of a team: exactly one of a user, a group and an app role of the tenant, and a named key."""

    #: the object id of a user, or of an application
    user: Text | None = None
    #: the object id of a group
    group: Text | None = None
    #: the value of an app role
    role: Text | None = None
    #: the name of a key, if callers have named keys
    key: Text | None = None
    #: whether the member may change the jobs of the whole team
    manager: bool = False


class Quota(Model):
    """How much the jobs of a team may have at once, and use in a month. A missing number means no limit."""

    jobs: Annotated[int, Field(ge=0)] | None = None
    nodes: Annotated[int, Field(ge=0)] | None = None
    gpus: Annotated[int, Field(ge=0)] | None = None
    #: of a month, in UTC
    gpu_hours: _Amount | None = None
    #: of a month, in the currency of the prices
    budget: _Amount | None = None
    #: what a single job may cost, if it runs as long as it may
    job_cost: _Amount | None = None
    #: whether other teams may borrow its idle nodes and GPUs, until a job of this team needs them
    lends: bool = False
    #: whether jobs without room in it may borrow from the quotas of other teams
    borrows: bool = False

    @property
    def needs_price(self) -> bool:
        """Whether it can be enforced only for jobs whose price is known."""
        return self.budget is not None or self.job_cost is not None


class Team(Model):
    """People who share jobs, and the resources that they may use."""

    members: Items[Membership] = ()
    #: the clusters that its jobs may use; None for all
    clusters: Items[str] | None = None
    #: folders of the drop container whose jobs belong to the team
    folders: Items[str] = ()
    #: containers and shares of the deployment's account that its jobs alone may mount with the account's key
    containers: Items[str] = ()
    quota: Quota | None = None
    #: its share of the limit of active jobs, relative to the weights of the other teams
    weight: Annotated[float, Field(gt=0, le=1000)] = 1.0
    #: whether a job of the team with the label `keep-idle` never ends because it is idle
    keep_idle: bool = False


class Teams(Model):
    """All teams of a deployment."""

    #: the team of callers who are in none, and of drops and messages without a team
    default: str | None = None
    teams: dict[str, Team] = Field(default_factory=dict)

    def of_folder(self, folder: str) -> str:
        """The team of a folder of the drop container: the one with the longest folder that contains it."""
        inside = f"{folder.strip('/')}/"
        owners = [
            (len(one), name)
            for name, team in self.teams.items()
            for one in team.folders
            if inside.startswith(f"{one.strip('/')}/")
        ]
        return max(owners)[1] if owners else ""


@dataclass(frozen=True)
class StoredTeams:
    """The stored document: its content, and the ETag that guards the next write."""

    teams: Teams
    etag: str

    @property
    def version(self) -> str:
        """A version that depends on the content only."""
        return version_of(self.teams)


def as_json(teams: Teams) -> JsonObject:
    """The document as people write it, without members that have their default."""
    return teams.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def version_of(teams: Teams) -> str:
    """A version that depends on the content only."""
    return hashlib.sha256(json.dumps(as_json(teams)).encode()).hexdigest()[:32]


def changes(before: Teams, after: Teams) -> list[str]:
    """The changes from one document to another, a clause for each team."""
    clauses = [f"the team {name} is removed" for name in before.teams if name not in after.teams]
    for name, team in after.teams.items():
        if name not in before.teams:
            clauses.append(f"the team {name} is new, with {len(team.members)} members")
        elif team != (old := before.teams[name]):
            named = [part for part in Team.model_fields if getattr(team, part) != getattr(old, part)]
            clauses.append(f"the team {name} changes its {', '.join(named)}")
    if before.default != after.default:
        clauses.append(f"the default team is {after.default or 'none'}, not {before.default or 'none'}")
    return clauses


class ReadTeams(NamedTuple):
    """The teams, or None if a problem forbids that; and all problems."""

    teams: Teams | None
    problems: tuple[Problem, ...]


def read_teams(
    document: JsonObject, clusters: Collection[str], own_containers: Collection[str] = ()
) -> ReadTeams:
    """The teams of a document, or every problem with its place.

    `clusters` are those of the deployment, `own_containers` those in which only the app writes.
    """
    try:
        teams = Teams.model_validate(document)
    except ValidationError as error:
        # Loads the models of the job file, which a good document does not need.
        from shared.jobspec import shape_problems

        return ReadTeams(None, tuple(shape_problems(Teams, document, error)))
    problems = (*_problems(teams, clusters), *_containers(teams, own_containers))
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


def _wrong(pointer: str, message: str, remedy: str, **more: Any) -> Problem:
    return problem("SW014", pointer, message, remedy, **more)
