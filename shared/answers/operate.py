"""Clusters, pauses, audit, health, and explanations."""

from __future__ import annotations

from typing import Any, Literal

from shared.answers.base import Answer, RoleWord, StateWord, Time
from shared.answers.job import OtherJob
from shared.answers.problem import Finding, ProblemDocument


class PauseState(Answer):
    """Whether submissions are paused; and if so since when, by whom and why."""

    paused: bool
    since: Time | None = None
    by: str | None = None
    reason: str | None = None


class OwnTeam(Answer):
    """A team that the caller is in."""

    name: str
    manager: bool
    """Whether they may change the jobs of the whole team."""


class Identity(Answer):
    """The caller, and what they may do."""

    id: str | None
    """The `owner` of their jobs; null for a holder of a function key."""
    roles: tuple[RoleWord, ...]
    """A holder of a function key has every role; an administrator has one role, which permits everything."""
    teams: tuple[OwnTeam, ...]
    """The first is the team of jobs that name none."""


class ClientSettings(Answer):
    """What a client that sends files to this deployment needs to know."""

    settings: dict[str, str]
    """Names and values, as in the reference of settings: where the services of the storage account are, and
    which containers have drops and receipts. A role on the account is needed beside them."""


class AuditDifference(Answer):
    """A difference between two sources."""

    kind: str
    what: str
    message: str


class AuditReport(Answer):
    """How much was compared, what differs, and what could not be queried."""

    counted: dict[str, int]
    differences: tuple[AuditDifference, ...]
    unknown: tuple[str, ...]


class Readiness(Answer):
    """Whether the app works, in one word for each part, and how many clusters answer."""

    storage: str
    clusters: dict[str, int]
    """Clusters by what they do: `ok`, `does not answer`, `misconfigured`."""
    paused: bool
    sweeper: str
    settings: str
    unreadable: int
    """Rows that cannot be read."""
    parked: int
    """Jobs that wait for a repair of the deployment."""
    off: tuple[str, ...]
    """Functions that a setting of the host disables."""


class Health(Readiness):
    """The checks of a service that is ready."""

    status: Literal["ok"]


class NotReady(Readiness, ProblemDocument):
    """The same checks, one of which has failed."""


class ExistingJob(Answer):
    """The job that the request would join."""

    id: str
    state: StateWord


class ExplainedJob(Answer):
    """The record that the request would create."""

    id: str | None
    name: str
    experiment: str
    door: str
    receipt: str
    duplicates: str
    existing: ExistingJob | None


class ExplainedSweep(Answer):
    """The sweep whose first job is explained."""

    jobs: int
    parallel: int
    """How many of them may be active at the same time."""
    values: dict[str, Any]
    """The values of the first job."""
    existing: str | None
    """The id of the sweep that the request would join."""


class ExplainedVariable(Answer):
    """A variable of the job's processes; `exact`: its value is the one that they will see."""

    name: str
    value: str
    source: str
    exact: bool


class ExplainedCluster(Answer):
    """Where it would run, why there, and how that cluster is now; its state is null if it did not answer."""

    name: str
    id: str
    engine: str
    why: str
    state: str | None
    note: str | None = None
    """Why its state is not known."""
    size: str | None = None
    priority: str | None = None
    nodes: int | None = None
    counts: dict[str, int] | None = None
    """Nodes by state."""
    maximum: int | None = None
    nodes_to_add: int | None = None
    errors: tuple[str, ...] | None = None


class Explanation(Answer):
    """What would happen to a job, or to the first job of a sweep."""

    verdict: Literal["runs", "rejected", "duplicate", "refused", "cancelled"]
    summary: str
    sweep: ExplainedSweep | None = None
    job: ExplainedJob
    after: tuple[OtherJob, ...] | None = None
    after_failure: tuple[OtherJob, ...] | None = None
    cluster: ExplainedCluster | None
    notes: tuple[str, ...]
    problems: tuple[Finding, ...]
    document: dict[str, Any] | None
    engine_name: str | None = None
    environment: tuple[ExplainedVariable, ...] | None = None
    requests_before: tuple[dict[str, Any], ...] | None = None
    request: dict[str, Any] | None = None
    limits: tuple[dict[str, Any], ...] | None = None
    wait: dict[str, Any] | None = None
    cost: dict[str, Any] | None = None
    wall_clock_limit: str | None = None
    warnings: tuple[str, ...]
