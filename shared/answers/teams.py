"""Teams: their document, their quotas, and what their jobs use."""

from __future__ import annotations

from typing import Any

from shared.answers.base import Answer


class TeamsVersion(Answer):
    """The teams of the deployment."""

    version: str
    """The same as long as the document says the same."""
    document: dict[str, Any]


class TeamUse(Answer):
    """What the jobs of a team have of its quota."""

    jobs: int
    nodes: int
    gpus: int
    gpu_hours: float
    """Of this month: what jobs that ended have used, and what those at work may use."""
    cost: float
    """The same of what they cost."""
    waiting: int
    """Jobs that wait for the quota, up to 200."""


class MonthUsage(Answer):
    """What the jobs used that ended in a month."""

    jobs: int
    node_hours: float
    gpu_hours: float
    cost: float


class Quota(Answer):
    """What the jobs of a team may have at once, and use in a month; missing for no limit."""

    jobs: int | None = None
    nodes: int | None = None
    gpus: int | None = None
    gpu_hours: float | None = None
    """Of a month."""
    budget: float | None = None
    """Of a month."""
    job_cost: float | None = None
    """Of a single job that runs as long as it may."""


class TeamShare(Answer):
    """A team, what it may have, and what it has."""

    name: str
    quota: Quota | None
    """Null for a team without a quota, whose use is not counted."""
    use: TeamUse | None
    months: dict[str, MonthUsage]
    """By month in UTC, such as 2026-11, the last thirteen."""


class TeamsUsage(Answer):
    """The caller's teams; all of them for who may see every job."""

    month: str
    currency: str
    teams: tuple[TeamShare, ...]


class TeamsDocument(TeamsVersion):
    """The teams, and what those with a quota have of it."""

    use: dict[str, TeamUse]


class ChangedTeams(TeamsVersion):
    """The teams after a change."""

    changes: tuple[str, ...]
    """A clause for each team that is not what it was."""
    dry_run: bool
    """Whether nothing was written."""
