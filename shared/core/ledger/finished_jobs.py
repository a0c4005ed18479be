"""Ended jobs in the ledger, the part of them that is kept for good, and the two ports to these. Pure.

After the retention a record becomes a line of the archive, and a tombstone under its own key: the tombstone
makes every late duplicate join, whenever it comes, so it is never removed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from shared.core.job import Job, Stored
from shared.core.job_sweeps.record import JobSweep
from shared.core.notify.events import Notice
from shared.jobspec import JsonObject

_PLACE = re.compile(r"(?P<name>[^#]+)#(?P<start>\d+)\+(?P<length>\d+)", re.ASCII)


@dataclass(frozen=True)
class FinishedJob:
    """Everything that is recorded of one job that has ended: secrets are sealed, as in the ledger."""

    stored: Stored
    spec: JsonObject | None
    events: tuple[Notice, ...]

    @property
    def job(self) -> Job:
        """The record as it ended."""
        return self.stored.job


@dataclass(frozen=True)
class LineLocation:
    """The place of a line: the blob, and its bytes there."""

    name: str
    start: int
    length: int

    def __str__(self) -> str:
        return f"{self.name}#{self.start}+{self.length}"


class FinishedJobs(Protocol):
    """The ended jobs of the ledger. Every verb may be repeated safely."""

    @property
    def shards(self) -> int:
        """How many shards there are."""

    async def due_jobs(self, shard: int, before: datetime, limit: int, after: str = "") -> list[str]:
        """Jobs of the shard that ended before that, oldest first, each prefixed with its moment and `|`.

        `after` is the last one of an earlier answer. One range query.
        """

    async def gather(self, job_id: str) -> FinishedJob | None:
        """All of a job; None while one of its events is undelivered, or if it is archived already."""

    async def entomb(self, finished_job: FinishedJob, tombstone: Job) -> bool:
        """Replace the record by the tombstone and remove the rest; False if something has changed."""


class Archive(Protocol):
    """The store of the lines of finished jobs, by the name of a blob."""

    async def put(self, name: str, lines: bytes) -> None:
        """Store some lines; the name identifies their content, so the call may be repeated."""

    async def read(self, location: LineLocation) -> bytes | None:
        """One line; None if it was deleted."""

    async def try_write(self) -> None:
        """Make a write that leaves nothing. Raises Unavailable if it is refused."""


def line_of(finished_job: FinishedJob) -> bytes:
    """One line of JSON: the record, the accepted document, the events, and when storage wrote the end."""
    body = {
        "job": finished_job.job.model_dump(mode="json", exclude_defaults=True),
        "spec": finished_job.spec,
        "events": [notice.model_dump(mode="json") for notice in finished_job.events],
        "stored": finished_job.stored.stored.isoformat() if finished_job.stored.stored else None,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def finished_of(line: bytes) -> FinishedJob:
    """The finished job that `line_of` wrote as this line."""
    body = json.loads(line)
    stored = datetime.fromisoformat(body["stored"]) if body["stored"] else None
    events = tuple(Notice.model_validate(one) for one in body["events"])
    return FinishedJob(Stored(Job.model_validate(body["job"]), "", stored), body["spec"], events)


def line_locations(shard: int, lines: Sequence[bytes], day: datetime) -> list[LineLocation]:
    """The place of each line. The name is a digest of all lines, so a repeated write changes nothing."""
    digest = hashlib.sha256(b"".join(lines)).hexdigest()[:24]
    name, start, locations = f"{day:%Y/%m/%d}/s{shard:03d}-{digest}.jsonl", 0, []
    for line in lines:
        locations.append(LineLocation(name, start, len(line)))
        start += len(line)
    return locations


def location_of(record: Job | JobSweep) -> LineLocation:
    """The place of an archived record's line."""
    match = _PLACE.fullmatch(record.archived)
    if match is None:
        raise ValueError(f"{record.id} is not archived")
    return LineLocation(match["name"], int(match["start"]), int(match["length"]))


def tombstone(job: Job, location: LineLocation) -> Job:
    """The tombstone: enough to answer a duplicate as the record would, and to find the rest."""
    drop = job.drop.model_copy(update={"files": {}}) if job.drop is not None else None
    nothing = {
        "key": "",
        "labels": {},
        "resources": {},
        "notify": (),
        "dependencies": (),
        "retry": type(job.retry)(),
        "spent": type(job.spent)(),
        "target": None,
        "problems": (),
        "message": "",
        "error_lines": None,
    }
    members = {"drop": drop, "history": job.history[-1:], "archived": str(location)}
    return job.model_copy(update=nothing | members)
