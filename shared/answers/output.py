"""What a job wrote, and its receipt."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from shared.answers.base import Answer, Time
from shared.answers.job import JobDetail


class OutputEntry(Answer):
    """A file, a directory or a link in an output directory."""

    name: str
    bytes: int | None
    """Null for a directory, for a link that is not followed, and for an entry that is left out."""
    modified: Time | None
    link: bool | None = None
    """True for a link that is not followed: it leads out of the run's own folder, unless `kind` says
    otherwise."""
    left_out: bool | None = None
    """True if the name cannot be requested, if it is not a file, or if it stands for the rest of too many
    entries."""
    kind: str | None = None
    """The kind of an entry that is left out: `file` or `directory`, if its name cannot be requested; `link`,
    `pipe`, `socket` or `device`; `other` if the cluster does not report which of these four it is; `unkept`
    if its node could not upload it. Of a link: `nowhere`, `above` for one to a folder above it, or `special`
    for one to a pipe, a socket or a device."""
    executable: bool | None = None
    """Whether a file is a program; left out if the cluster does not report it."""


class OutputEntries(Answer):
    """The entries of a folder of an output directory, ordered by name; in pages if it is large."""

    files: tuple[OutputEntry, ...]
    next: str | None
    """The `after` of the next request; null where there are no more."""


class FileAddress(Answer):
    """A file in storage, and the address by which it can be read there without a key."""

    name: str
    bytes: int
    modified: Time
    """When it was written to storage; a file with a newer time in the list of files is another version."""
    url: str
    """A secret until it expires: anyone who has it can read the file."""


class FileAddresses(Answer):
    """Addresses of files in a folder, in the order of their names."""

    addresses: tuple[FileAddress, ...]
    next: str | None
    """The `after` of the next request; null where there are no more."""
    expires: Time | None
    """How long the addresses are valid; null if the files of this directory are only available through the
    API."""


class OutputPlace(Answer):
    """A directory that a job writes to."""

    id: str
    path: str
    log: str | None = None
    """The address of the log, for the standard output and error."""
    files: str
    """The address of the list of its files."""


class OutputDirectories(Answer):
    """Every output directory of a job."""

    outputs: tuple[OutputPlace, ...]


class MetricSeries(Answer):
    """The values of one metric, from one file and, if its lines name a rank, of one rank."""

    name: str
    file: str
    rank: int | None = None
    axis: str
    """The meaning of the first number of each point: step, epoch, time, or line."""
    count: int
    """The number of values that were read; `points` may have fewer."""
    points: tuple[tuple[float, float], ...]


class Metrics(Answer):
    """The metrics that a job and its nodes have reported since the `after` of the request."""

    series: tuple[MetricSeries, ...]
    next: str
    """The `after` of the next request."""
    more: bool
    """Whether there is more to read already."""
    restarted: bool
    """Whether the job began a new run: the points of earlier responses are out of date."""
    note: str | None = None
    """What was left out."""


class LogPart(Answer):
    """Bytes of a log."""

    file: str
    start: int
    """Where they begin: after the end of the part before if too much was written since."""
    size: int
    """Bytes of the file."""
    data: str = Field(json_schema_extra={"contentEncoding": "base64"})


class LiveJob(Answer):
    """A job, and what it has written since the `after` of the request."""

    job: JobDetail
    files: tuple[str, ...] | None = None
    """The names in `stdouterr`, at most 1,000; left out while they are those of the answer before."""
    log: tuple[LogPart, ...]
    """Of the file and of the standard error of the same process; at most 256 KiB of each."""
    metrics: Metrics | None = None
    next: str
    """The `after` of the next request."""
    more: bool
    """Whether there are more numbers to read already."""
    restarted: bool
    """Whether the job began a new run: the log and the points of earlier answers are out of date."""
    note: str | None = None
    """Why the log or the numbers are missing."""


class LastLines(Answer):
    """How a failed job's standard error ended, or its standard output if it has no other."""

    file: str
    lines: tuple[str, ...]


class ErrorEnds(Answer):
    """The last lines of standard error of the first eight processes, by name, that wrote any."""

    files: tuple[LastLines, ...]
    more: int
    """How many other processes wrote to the same."""


class Receipt(JobDetail):
    """The accepted document, the outcome, and every step in between."""

    versions: dict[str, str]
    waited_seconds: float | None = None
    ran_seconds: float | None = None
    nodes: int | None = None
    node_hours: float | None = None
    last_lines: LastLines | None = None
    outputs: tuple[OutputPlace, ...] | None = None
    spec: dict[str, str] | None = None
    """`sha256`: of the canonical JSON of `accepted`."""
    accepted: dict[str, Any] | None = None
    """The completed document, secrets masked."""
