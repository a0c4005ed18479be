"""A job, in lists and in detail, and the result of a request for one."""

from __future__ import annotations

from typing import Any, Literal

from shared.answers.base import Answer, ReasonWord, StateWord, Time
from shared.answers.job_parts import ErrorLines, ExpectedStart, JobAttempt
from shared.answers.problem import Finding


class Waits(Answer):
    """Why a job waits, and since when."""

    word: str
    text: str
    since: Time
    position: int | None = None
    """Of a single job: its place among those that wait for the same, from 1 on; by its team's line where it
    waits for the quota, else by creation."""
    never: bool | None = None
    """True where it can never start until the job or the cluster changes."""


class IdleWarning(Answer):
    """A running job that does nothing with what it has."""

    cause: Literal["gpus", "log"]
    """All its GPUs are idle, or nothing is added to its standard output and error."""
    since: Time
    ends_after: Time
    """When its end is requested, unless it works again before that."""


class HeldJob(Answer):
    """A job whose command has failed, and whose nodes are kept."""

    exit_code: int | None = None
    message: str
    until: Time
    """When they are given back, unless they are released before that."""


class JobUsage(Answer):
    """What all attempts of a job used together."""

    node_hours: float
    gpu_hours: float
    """0 if the number of GPUs of its nodes is not known."""
    cost: float | None = None
    """At the price when the job was accepted; missing if no price is known."""
    currency: str | None = None


class AttemptOnEngine(Answer):
    """The names by which the cluster knows the current attempt."""

    engine: str
    cluster: str
    experiment: str
    name: str
    id: str | None = None
    """The scheduler's own number or id, once it is known."""


class SweepMember(Answer):
    """Which job of a sweep this is, and its values."""

    id: str
    index: int
    values: dict[str, Any]


class JobLine(Answer):
    """A job in a list."""

    id: str
    name: str
    experiment: str | None = None
    cluster: str | None = None
    """Missing if the document was rejected before a cluster was chosen."""
    door: str
    """The door through which it arrived: drop, inventory, http, queue or rerun."""
    state: StateWord
    reason: ReasonWord | None = None
    """Why it ended, or what it waits for."""
    message: str | None = None
    last_error: str | None = None
    """The line of standard error, or of standard output with the name of an error, that most likely says why
    it failed; or the first problem of a rejected document with its rule and place; at most 300 printable
    characters."""
    signature: str | None = None
    """Of a job that failed, was lost or rejected, in a list: its error with `#` for numbers, digests and ids,
    so that errors with one cause are equal; at most 160 characters."""
    waiting: Waits | None = None
    expected_start: ExpectedStart | None = None
    """Of a job that waits, in a list and where it is asked for alone."""
    idle: IdleWarning | None = None
    hold: str | None = None
    """For how long its nodes are kept after a failure of its own (ISO 8601)."""
    held: HeldJob | None = None
    """Only while they are kept."""
    exit_code: int | None = None
    attempt: int
    cancel_requested: bool | None = None
    entered: tuple[str, ...] | None = None
    """Who was told where its processes are, to enter it: what it did may not be what its document says."""
    labels: dict[str, str] | None = None
    resources: dict[str, Any] | None = None
    """The resources of its cluster that its message asked for."""
    created_at: Time
    started_at: Time | None = None
    ended_at: Time | None = None
    receipt: str
    """The path of the receipt in the storage account, container first."""
    generation: int
    rerun_of: str | None = None
    resumes: str | None = None
    """The job from whose saved files it goes on."""
    engine: AttemptOnEngine | None = None
    nodes: int | None = None
    """How many nodes it asks for; missing in older records and if the document cannot run."""
    priority: str | None = None
    """The scheduling priority in its document, if there is one."""
    team: str | None = None
    """Missing if the deployment has no teams."""
    usage: JobUsage | None = None
    """Only for a job that ran and has ended."""
    packages_seconds: int | None = None
    """For how long a node installed packages for its last attempt, as its preparation wrote."""
    owner: str | None = None
    """The id (`oid`) of the caller who asked for it with a token; missing if it arrived in any other way."""
    cancelled_by: str | None = None
    """Who asked first for its cancellation, by their id; missing where it was released or ended otherwise."""
    sweep: SweepMember | None = None


class DroppedFile(Answer):
    """A file of a drop, in the version that was read."""

    name: str
    sha256: str
    etag: str | None


class DroppedFolder(Answer):
    """The folder that a dropped job came from."""

    container: str
    folder: str
    files: tuple[DroppedFile, ...]
    late: str | None = None
    """The files that came after its files were frozen, in a sentence: the job does not have them."""


class JobCode(Answer):
    """The archive with the code that a job runs, also after an edit of the folder that it was made of."""

    sha256: str
    """The digest of its bytes, which every node checks before anything runs."""
    bytes: int
    files: int | None = None
    """How many it has; only its list tells (`GET /api/jobs/{id}/code`) for an archive that a client sent."""
    at: str
    """Where nodes unpack it: `work`, the working directory, or a folder below the one of scripts."""
    origin: str
    """`upload`, `drop` or `folder`."""


class OtherJob(Answer):
    """Another job that a job waits for."""

    job: str
    name: str
    met: bool
    """Whether it has ended in the required way."""


class Receiver(Answer):
    """A receiver of a job's events; `url` is shortened to the part that is not secret."""

    url: str
    secret: str | None
    """The name of a configured secret."""
    events: tuple[str, ...]


class HistoryEntry(Answer):
    """A state that a job has reached."""

    sequence: int
    state: StateWord
    at: Time
    attempt: int
    reason: ReasonWord | None = None
    note: str | None = None
    by: str | None = None
    """Who asked for the job's end then, by their id; for a key without a name that it is one."""


class JobDetail(JobLine):
    """One job with its history, its problems and its receivers."""

    attempts: tuple[JobAttempt, ...] | None = None
    """In order; only where one job is asked for, and in its receipt."""
    error_lines: ErrorLines | None = None
    """Of a job that failed by its own fault, if its cluster returned them at its end; only where one job is
    asked for."""
    remedy: str | None = None
    """What helps against `lastError`, if it is an error with one usual cause, such as a missing module."""
    after: tuple[OtherJob, ...] | None = None
    """The jobs that have to succeed first."""
    after_failure: tuple[OtherJob, ...] | None = None
    """The jobs that have to end without success first."""
    drop: DroppedFolder | None = None
    code: JobCode | str | None = None
    """In a receipt `live` for a job that mounts the container of drops: each attempt runs what lies there
    then. Missing for a job that brings no code."""
    notify: tuple[Receiver, ...] | None = None
    problems: tuple[Finding, ...] | None = None
    received: str | None = None
    """The text of a rejected document, with `***` for secrets and for the values of unknown members."""
    history: tuple[HistoryEntry, ...] | None = None


class AcceptedJob(JobDetail):
    """The job that a request created or joined."""

    notes: tuple[str, ...]
    """Every value that was filled in."""


class JobPage(Answer):
    """A page of jobs, newest first."""

    jobs: tuple[JobLine, ...]
    next: str | None
    """The `after` of the next page; null on the last one."""
    searched_to: Time | None = None
    """Set if the search reached its bounds before the page was full: no older job was looked at."""
    note: str | None = None
    """The same as a sentence."""
