"""What a job wrote, and its receipt."""

from __future__ import annotations

from typing import Any

from shared.answers.base import Answer, Time
from shared.answers.job import JobDetail


class OutputEntry(Answer):
    """A file, a directory or a link in an output directory."""

    name: str
    bytes: int | None
    """Null for a directory, for a link that is not followed, and for what is left out."""
    modified: Time | None
    link: bool | None = None
    """True for a link that leads out of the run's own folder."""
    left_out: bool | None = None
    """True where the name cannot be asked for, it is no file, or stands for the rest of too many entries."""
    kind: str | None = None
    """Of what is left out: `file` or `directory`, whose name cannot be asked for; `link`, `pipe`, `socket` or
    `device`; `other` for one of these four, where the cluster does not say which."""


class OutputEntries(Answer):
    """What lies in a folder of an output directory, in the order of names: of a large one, a part."""

    files: tuple[OutputEntry, ...]
    next: str | None
    """The `after` of the next request; null where there are no more."""


class FileAddress(Answer):
    """A file in storage, and the address by which it can be read there without a key."""

    name: str
    bytes: int
    modified: Time
    """When storage got it; a file that the list of files shows as newer is another one."""
    url: str
    """A secret until it expires: anyone who has it can read the file."""


class FileAddresses(Answer):
    """Addresses of files in a folder, in the order of their names."""

    addresses: tuple[FileAddress, ...]
    next: str | None
    """The `after` of the next request; null where there are no more."""
    expires: Time | None
    """How long the addresses are valid; null where files of this directory come through the API only."""


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
    """The values of one number, from one file and, where the lines say so, one rank."""

    name: str
    file: str
    rank: int | None = None
    axis: str
    """What the first number of each point is: step, epoch, time, or line."""
    count: int
    """Values that this answer has read; `points` may be fewer."""
    points: tuple[tuple[float, float], ...]


class Metrics(Answer):
    """What a job and its nodes have reported since the `after` of the request."""

    series: tuple[MetricSeries, ...]
    next: str
    """The `after` of the next request."""
    more: bool
    """Whether there is more to read now."""
    restarted: bool
    """Whether the job began a new run: points of earlier answers are out of date."""
    note: str | None = None
    """What was left out."""


class LastLines(Answer):
    """How a failed job's standard error ended."""

    file: str
    lines: tuple[str, ...]


class ErrorEnds(Answer):
    """How standard error of a job's processes ended: of those that wrote some, the first eight by name."""

    files: tuple[LastLines, ...]
    more: int
    """How many others wrote some."""


class Receipt(JobDetail):
    """What was accepted, what became of it, and the way there."""

    versions: dict[str, str]
    attempts: tuple[dict[str, Any], ...] | None = None
    """Each attempt: its name on the cluster, its times, why it ended."""
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
