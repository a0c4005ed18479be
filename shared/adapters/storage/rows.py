"""The rows of the ledger table, as pure translations. One job's rows share one partition.

`n|<id>` record and index of a job that has not ended · `j|<id>` record of one that has, or its tombstone; the
key is taken with the first write · `s|<id>` immutable spec · `o|<id>|<seq>` undelivered event ·
`e|<id>|<seq>` delivered event · `x|<id>|<seq>` dead letter. The rows of lists are in `listed`, those of no
job in `other_rows`. Long strings are split: the service takes 32,768 UTF-16 units a string and 1 MiB an
entity, which Azurite does not enforce.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic_core import to_json

from shared.adapters.storage.table import ETAG, DueRange, Range, joined, split
from shared.core.job import Job, JobState, Target
from shared.core.ledger.entries import Active, StatusLine, packed, unpacked
from shared.core.notify.events import Notice
from shared.core.pacing.wait_kinds import WaitKind
from shared.core.relations.claim import Claim

Entity = dict[str, Any]
#: Reverse times count down from this: the last second of the year 9999, in milliseconds.
LISTED_UNTIL = 253_402_300_799_000


def shard_of(job_id: str, shards: int) -> int:
    """The shard of a job. It never changes, which is why the number of shards is fixed."""
    return zlib.crc32(job_id.encode()) % shards


def partition(shard: int) -> str:
    """The partition key of a shard."""
    return f"s{shard:03d}"


def stub_row(job: Job, shards: int) -> Entity:
    """The row that takes the key of a record while the index row holds the record."""
    return {**row_of(job.id, f"j|{job.id}", shards), "State": ""}


def record_row(job: Job, shards: int) -> Entity:
    """The record of a job that has ended."""
    return {
        **row_of(job.id, f"j|{job.id}", shards),
        "State": job.state.value,
        **split("Record", job.model_dump_json(exclude_defaults=True)),
    }


def job_of(entity: Mapping[str, Any]) -> Job:
    """The record that a row holds."""
    return Job.model_validate_json(joined("Record", entity))


def is_stub(entity: Mapping[str, Any]) -> bool:
    """Whether the row only takes the key of a record that is in its index row."""
    return str(entity["RowKey"]).startswith("j|") and entity.get("State") == ""


def record_of(entity: Mapping[str, Any]) -> Job:
    """The record that a row holds: an index row, or one of a job that has ended."""
    return unpacked(joined("Packed", entity)) if entity["RowKey"].startswith("n|") else job_of(entity)


def tombstone_row(job: Job, stored: datetime, shards: int) -> Entity:
    """The row that remains of a record; drops are compared with `stored`, the storage's time of its end."""
    return {**record_row(job, shards), "Stored": stored.astimezone(UTC).isoformat()}


def stored_of(entity: Mapping[str, Any], written: datetime) -> datetime:
    """When the record was last written, by the storage's clock; for a tombstone, the time that it holds."""
    return moment_of(entity["Stored"]) if "Stored" in entity else written


def spec_row(job_id: str, document: Mapping[str, Any], shards: int) -> Entity:
    """The accepted document; written once, never changed."""
    text = to_json(document).decode()
    return {**row_of(job_id, f"s|{job_id}", shards), **split("Spec", text)}


def spec_of(entity: Mapping[str, Any]) -> dict[str, Any]:
    """The document that a row holds."""
    document: dict[str, Any] = json.loads(joined("Spec", entity))
    return document


def active_row(job: Job, shards: int) -> Entity:
    """The index row of a job that has not ended, with its record."""
    return {
        **row_of(job.id, f"n|{job.id}", shards),
        "State": job.state.value,
        "Due": text_of(job.due),
        "Wait": job.wait.value,
        "Planned": job.planned_wait / timedelta(seconds=1) if job.planned_wait else 0.0,
        "Target": job.target.model_dump_json() if job.target else "",
        "Cancel": job.cancel,
        "Misses": job.misses,
        "Listed": listing_key(job),
        "Status": job.status_file,
        "Stage": job.line.sequence,
        "Since": text_of(job.stage.at),
        "Waits": job.waiting.text if job.waiting else "",
        **({"Absent": absent} if (absent := job.absent_files) else {}),
        "After": " ".join(one.job for one in job.unmet),
        "Sweep": job.sweep.id if job.sweep else "",
        "Claim": job.claim.model_dump_json() if job.claim else "",
        "Team": job.team,
        **({"Hold": "held" if job.hold.held else "wanted"} if job.hold else {}),
        # A transition merges: a column that is left out would keep what it had.
        "Priority": job.priority,
        "Paused": job.paused is not None,
        **split("Packed", packed(job)),
    }


def active_of(entity: Mapping[str, Any]) -> Active:
    """The active job that an index row holds."""
    record = joined("Packed", entity)
    return Active(
        job_id=str(entity["RowKey"])[2:],
        state=JobState(entity["State"]),
        due=moment_of(entity["Due"]),
        target=Target.model_validate_json(entity["Target"]) if entity["Target"] else None,
        cancel=bool(entity["Cancel"]),
        misses=int(entity["Misses"]),
        listed=str(entity["Listed"]),
        waits=entity.get("Waits", ""),
        since=entity["Since"],
        shown=_status_line(entity),
        packed=record,
        etag=str(entity.get(ETAG, "")),
        after=tuple(entity.get("After", "").split()),
        sweep=entity.get("Sweep", ""),
        claim=Claim.model_validate_json(entity["Claim"]) if entity.get("Claim") else None,
        team=entity.get("Team", ""),
        wait=WaitKind(entity.get("Wait", WaitKind.SLOT)),
        planned_wait=timedelta(seconds=planned) if (planned := entity.get("Planned")) else None,
        hold=entity.get("Hold", ""),
        priority=entity.get("Priority", ""),
        paused=bool(entity.get("Paused")),
    )


def _status_line(entity: Mapping[str, Any]) -> StatusLine | None:
    if not entity.get("Status"):
        return None
    since, absent = moment_of(entity["Since"]), entity.get("Absent", "")
    return StatusLine(entity["Status"], int(entity["Stage"]), since, absent)


def listing_key(job: Job) -> str:
    """The key of a job in a list; keys sort the newest job first."""
    return f"{listed(job.created)}|{job.id}"


def listed(moment: datetime) -> str:
    """A moment as the listing sorts it."""
    return f"{LISTED_UNTIL - int(moment.timestamp() * 1000):015d}"


def sortable(moment: datetime) -> str:
    """A moment as text that sorts oldest first."""
    return f"{int(moment.timestamp() * 1000):015d}"


def notice_row(notice: Notice, shards: int, kind: str = "o") -> Entity:
    """An event: `o` undelivered, `e` delivered, `x` dead."""
    return {
        **row_of(notice.job_id, notice_key(notice.job_id, notice.sequence, kind), shards),
        "Due": text_of(notice.due),
        "Event": notice.event_id,
        **split("Notice", notice.model_dump_json()),
    }


def notice_key(job_id: str, sequence: int, kind: str = "o") -> str:
    """The row key of an event; numbers are padded so that they sort."""
    return f"{kind}|{job_id}|{sequence:08d}"


class KeyedNotice(NamedTuple):
    """An event, and the key of the row that holds it."""

    key: str
    notice: Notice


def latest(notices: Iterable[tuple[str, Notice]]) -> list[Notice]:
    """The events of some rows, by sequence. If an event is in two rows, the undelivered one counts."""
    each = {notice.event_id: notice for _, notice in sorted(notices, key=lambda row: row[0])}  # e| before o|
    return sorted(each.values(), key=lambda notice: notice.sequence)


def keyed_notice(entity: Mapping[str, Any]) -> KeyedNotice:
    """The event that a row holds, with the key of the row."""
    return KeyedNotice(entity["RowKey"], notice_of_row(entity))


def notice_of_row(entity: Mapping[str, Any]) -> Notice:
    """The event that a row holds."""
    return Notice.model_validate_json(joined("Notice", entity))


def range_of(
    shard: int, kind: str, *, due: str = "", beyond: str = "", equal: tuple[str, str] = ("", "")
) -> Range:
    """The rows of a kind in a shard."""
    return Range(partition(shard), f"{kind}|", f"{kind}}}", due, beyond, equal=equal)


def unfinished(shard: int, now: datetime, longest: timedelta) -> Range:
    """Index rows, events that are due, and job sweeps: their kinds are neighbours, so one range holds all."""
    due, never = due_range(now, longest)
    return Range(partition(shard), "n|", "p}", due, never, due_from="o|", etags=True)


def due_range(now: datetime, longest: timedelta) -> DueRange:
    """The `Due` columns that are due: the time has come, or is further ahead than the longest wait."""
    return DueRange(text_of(now), text_of(now + longest))


def row_of(job_id: str, key: str, shards: int) -> Entity:
    """The keys of a row of a job."""
    return {"PartitionKey": _partition_of(job_id, shards), "RowKey": key}


@lru_cache(maxsize=1024)
def _partition_of(job_id: str, shards: int) -> str:
    """Remembered for the jobs at hand, each of which has a dozen rows."""
    return partition(shard_of(job_id, shards))


def text_of(moment: datetime) -> str:
    """A moment as text, as columns hold and compare it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def moment_of(text: str) -> datetime:
    """The moment that a column holds. Raises ValueError, also for one without a zone."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a moment without a zone")
    return moment
