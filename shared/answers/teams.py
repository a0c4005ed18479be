"""Teams: their document, their quotas, and the use of their jobs."""

from __future__ import annotations

from typing import Any

from shared.answers.base import Answer, Time


class TeamsVersion(Answer):
    """The teams of the deployment."""

    version: str
    """Changes only when the document does."""
    document: dict[str, Any]


class TeamUse(Answer):
    """How much of its quota the jobs of a team use."""

    jobs: int
    nodes: int
    gpus: int
    gpu_hours: float
    """In this month: the hours that ended jobs have used, and those that active jobs may still use."""
    cost: float
    """In this month: the cost of ended jobs, and the cost that active jobs may still reach."""
    reserved_gpu_hours: float
    """Of the hours those that active jobs may still use, if each runs as long as it may."""
    reserved_cost: float
    """Of the cost that which active jobs may still reach."""
    waiting: int
    """Jobs that wait for the quota, up to 200."""
    borrowed: int
    """Further jobs, which are on the quotas of other teams."""
    lent: int
    """Of the jobs those of other teams, on this quota."""


class MonthUsage(Answer):
    """The use of the jobs that ended in a month."""

    jobs: int
    node_hours: float
    gpu_hours: float
    cost: float


class PersonQuota(Answer):
    """How much the jobs of one person may have at once; missing without a limit."""

    jobs: int | None = None
    nodes: int | None = None
    gpus: int | None = None


class Quota(Answer):
    """How much the jobs of a team may have at once, and use in a month; missing without a limit."""

    jobs: int | None = None
    nodes: int | None = None
    gpus: int | None = None
    gpu_hours: float | None = None
    """Of a month."""
    budget: float | None = None
    """Of a month."""
    job_cost: float | None = None
    """Of a single job, at its longest permitted run."""
    per_person: PersonQuota | None = None
    """Of it, for one person."""
    lends: bool | None = None
    """Whether jobs of other teams may use what of it is idle."""
    borrows: bool | None = None
    """Whether the team's jobs may use what is idle of others' quotas."""


class TeamShare(Answer):
    """A team, its quota, and its use."""

    name: str
    quota: Quota | None
    """Null for a team without a quota; its use is counted by its jobs, this month."""
    use: TeamUse | None
    months: dict[str, MonthUsage]
    """By month in UTC, such as 2026-11, the last thirteen; of a team without a quota this one."""
    error: str | None = None
    """Why its use is not known, and what an operator may do, where it has a quota and no use."""


class UsageShare(Answer):
    """What the jobs of a caller, or of an experiment, used and may still use in a month."""

    team: str | None
    owner: str | None = None
    """Missing for jobs that came by a door, or with a key without a name."""
    experiment: str | None = None
    jobs: int
    """Those that have ended, whose use follows."""
    node_hours: float
    gpu_hours: float
    cost: float
    at_work: int
    """Those that a cluster has, or is being given, and that may still use what is reserved."""
    reserved_gpu_hours: float
    reserved_cost: float


class TeamsUsage(Answer):
    """The caller's teams; all teams for a caller who may see every job."""

    month: str
    currency: str
    teams: tuple[TeamShare, ...]
    counted_since: Time
    """What is counted by jobs is counted since then: later than the month began where there are too many, or
    where they are archived."""
    shares: tuple[UsageShare, ...] | None = None
    """The 200 that used most; where `by` asks for them."""


class TeamsDocument(TeamsVersion):
    """The teams, with their use of a quota."""

    use: dict[str, TeamUse]
    errors: dict[str, str]
    """Of teams whose use is not known: why, and what to do."""


class ChangedTeams(TeamsVersion):
    """The teams after a change."""

    changes: tuple[str, ...]
    """A clause for each team that was changed."""
    dry_run: bool
    """Whether nothing was written."""
