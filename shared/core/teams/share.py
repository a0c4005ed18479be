"""share: what the team of a job may use. Light: who only reads a request loads no document of teams. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import timedelta

    from shared.core.teams.document import Quota
    from shared.jobspec import Problem


@dataclass(frozen=True)
class Share:
    """A job's team, and the resources that it may use."""

    #: "" for no team
    team: str = ""
    #: None for all
    clusters: frozenset[str] | None = None
    quota: Quota | None = None
    #: what its jobs may mount beside what all may
    containers: frozenset[str] = frozenset()
    #: for how long they may keep their nodes after a failure; None for as long as the deployment allows
    hold: timedelta | None = None
    #: webhook secrets of other teams, by which no event of its jobs is signed
    secrets_of_others: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()


#: For deployments without teams, and for callers who need no team.
NO_TEAM = Share()
