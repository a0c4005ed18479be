"""The document of teams.

A deployment has one; it is replaced as a whole, and every process reads it. Pure.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from shared.jobspec import (
    Items,
    JsonObject,
    Model,
    Text,
)

#: The most teams of a document, members of a team, and bytes of the document, which is one entity of the
#: ledger.
MAX_TEAMS, MAX_MEMBERS, MAX_BYTES = 200, 1_000, 256 << 10
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


class PersonQuota(Model):
    """How much the jobs of one person in a team may have at once. A missing number means no limit."""

    jobs: Annotated[int, Field(ge=0)] | None = None
    nodes: Annotated[int, Field(ge=0)] | None = None
    gpus: Annotated[int, Field(ge=0)] | None = None


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
    #: what each person may have of it at once, borrowed room included
    per_person: PersonQuota | None = None
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
    #: webhook secrets by which only events of its jobs are signed
    webhook_secrets: Items[str] = ()
    quota: Quota | None = None
    #: its share of the limit of active jobs, relative to the weights of the other teams
    weight: Annotated[float, Field(gt=0, le=1000)] = 1.0
    #: whether a job of the team with the label `keep-idle` never ends because it is idle
    keep_idle: bool = False
    #: for how long a job of the team that failed may keep its nodes, within what the deployment allows
    hold: str | None = None
    #: whether people may enter its running jobs, where a cluster offers that
    enter: bool = True


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

    def of_drop(self, folder: str) -> str:
        """The team of the jobs of a folder: the one that owns it, else the default; "" for none."""
        return self.of_folder(folder) or self.default or ""

    def secrets_of_others(self, team: str) -> frozenset[str]:
        """The webhook secrets that belong to other teams, and not to this one."""
        own = self.teams[team].webhook_secrets if team in self.teams else ()
        others = (one for name, each in self.teams.items() if name != team for one in each.webhook_secrets)
        return frozenset(others) - {*own}


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
