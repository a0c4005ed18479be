"""The overview: what runs, waits and failed, what is free, and what was used."""

from __future__ import annotations

from typing import Literal

from shared.answers.base import Answer, StateWord, Time


class JobMark(Answer):
    """A job, and a moment of it."""

    id: str
    name: str
    at: Time


class WaitingGroup(Answer):
    """Jobs that wait for the same."""

    word: str
    """As of `waiting` of a job; "" where the reason is not known yet."""
    subject: str
    """The cluster, the team, the sweep or the job that they wait for; "" for the whole deployment."""
    text: str
    """The sentence of the oldest one, at most 160 characters."""
    never: bool
    """Whether they can never start as things stand."""
    jobs: int
    oldest: JobMark
    """The one that was created first, and when it began to wait for this."""
    next: JobMark
    """The one whose turn comes first, and when it was created."""
    next_by: Time | None = None
    """When the first of the jobs that have what these wait for reaches its time limit: something becomes free
    then at the latest. Missing where that is not known."""


class FailureGroup(Answer):
    """Jobs that failed, were lost or rejected with errors of one signature."""

    signature: str
    """The error with `#` for numbers, digests and ids, at most 160 characters; the condition `error` of a
    list takes it."""
    error: str
    """That of the last one, as it was written, at most 160 characters."""
    state: StateWord
    """Of the last one."""
    jobs: int
    first: JobMark
    """The one that ended first since then, and when."""
    last: JobMark


class IdleJob(Answer):
    """A running job that does nothing with what it has."""

    id: str
    name: str
    since: Time
    ends_after: Time


class RunningJob(Answer):
    """A job that runs."""

    id: str
    name: str
    owner: str | None = None
    team: str | None = None
    cluster: str
    nodes: int
    gpus: int
    """Of all its nodes together; 0 if the number is not known."""
    since: Time
    """When its current attempt began to run."""
    until: Time | None = None
    """When it reaches its time limit."""


class EndedJob(Answer):
    """A job that has ended."""

    id: str
    name: str
    owner: str | None = None
    state: StateWord
    at: Time
    ran: int
    """Seconds, with all its attempts; 0 for one that did not begin."""
    error: str | None = None
    """Why it failed, at most 80 characters."""


class EndsByTime(Answer):
    """How many jobs ended in each part of the time since `since`, the first part first."""

    hours: int
    """Of one part; the last one has what is left, and has not ended yet."""
    succeeded: tuple[int, ...]
    failed: tuple[int, ...]
    """Those that were lost or rejected, too."""


class ClusterNodes(Answer):
    """The nodes of a cluster by state, as the sweeper's timer saw them last."""

    name: str
    nodes: dict[str, int] | None
    """Null for a cluster that did not answer, or has not been asked yet."""
    maximum: int | None = None
    """The most that it may have, where it is limited and scales."""
    at: Time | None
    """Since when they are so, as far as it is recorded."""


class TeamMonth(Answer):
    """What the jobs of a team have, and what they used and may still use in this month."""

    team: str | None
    """Null for jobs without a team."""
    jobs: int
    """Those that a cluster has, or is being given."""
    nodes: int
    gpus: int
    gpu_hours: float
    """Used by jobs that have ended in this month."""
    cost: float
    reserved_gpu_hours: float
    """What the jobs that have not ended may still use, if each runs as long as it may."""
    reserved_cost: float
    limit_gpu_hours: float | None = None
    """Of the team's quota, a month."""
    budget: float | None = None
    """Of the team's quota, a month."""


class LeftOut(Answer):
    """How many entries of each list did not fit into the answer; those with the fewest jobs."""

    waiting: int
    failures: int
    idle: int
    clusters: int
    use: int


class Overview(Answer):
    """What runs, waits and failed, what is free, and what was used; at most 8 kB."""

    scope: Literal["mine", "team", "all"]
    since: Time
    """Jobs that have ended are counted since then: later than asked for where there are too many."""
    counts: dict[str, int]
    """Jobs by state: all that have not ended, and those that have ended since then."""
    waiting: tuple[WaitingGroup, ...]
    """The largest first."""
    failures: tuple[FailureGroup, ...]
    """The largest first."""
    idle: tuple[IdleJob, ...]
    running: tuple[RunningJob, ...]
    """The newest 12; `counts` has the number of all."""
    ended: tuple[EndedJob, ...]
    """The last 8."""
    ends: EndsByTime
    clusters: tuple[ClusterNodes, ...]
    month: str
    currency: str
    counted_since: Time
    """The use of teams without a quota is counted since then: later than the month began where there are too
    many jobs, or they are archived."""
    use: tuple[TeamMonth, ...]
    left_out: LeftOut | None = None
