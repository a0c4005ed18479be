"""The rows of the ledger table, as pure translations. One job's rows share one partition.

`n|<id>` record and index of a job that has not ended · `j|<id>` record of one that has, or its tombstone; the
key is taken from the first write on · `s|<id>` immutable spec · `o|<id>|<seq>` undelivered event ·
`e|<id>|<seq>` delivered event · `x|<id>|<seq>` dead letter · `l|<reverse time>|<id>` the listing, newest
first · `t|<reverse time>|<id>` its turn, if it had to wait for one · `f|<time>|<id>` ended then, and not
archived yet. The others are in `other_rows`. Long strings are split: the service allows 32,768 UTF-16 units a
string and 1 MiB an entity, which Azurite does not enforce.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic_core import to_json

from shared.backoff import LONGEST_DELIVERY_WAIT
from shared.events import Notice
from shared.index import packed, unpacked
from shared.job import Job, JobState, Target
from shared.ports import Active, Shown
from shared.storage.table import ETAG, Range

Entity = dict[str, Any]

_CHUNK = 16_000  # characters: at most two UTF-16 units each
#: The part of a listing row's key after its kind.
LISTING_KEY = re.compile(r"\d{15}\|j_[a-z0-9]{1,40}", re.ASCII)
_FAR = 253_402_300_799_000  # the last millisecond of the year 9999


def shard_of(job_id: str, shards: int) -> int:
    """The shard of a job; the same for ever, which is why the shard count never changes."""
    return zlib.crc32(job_id.encode()) % shards


def partition(shard: int) -> str:
    """The partition key of a shard."""
    return f"s{shard:03d}"


def stub_row(job: Job, shards: int) -> Entity:
    """What takes the key of a record while its index row holds it."""
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


def record_in(entity: Mapping[str, Any]) -> Job | None:
    """The record that a row holds, if it holds one."""
    if "Packed0" in entity:
        return unpacked(joined("Packed", entity))
    return job_of(entity) if "Record0" in entity else None


def tombstone_row(job: Job, stored: datetime, shards: int) -> Entity:
    """What stays of a record; later drops are judged by `stored`, the storage's own time of its end."""
    return {**record_row(job, shards), "Stored": stored.astimezone(UTC).isoformat()}


def stored_of(entity: Mapping[str, Any], written: datetime) -> datetime:
    """When the record was last written, by the storage's clock; of a tombstone, what it says."""
    return datetime.fromisoformat(entity["Stored"]) if "Stored" in entity else written


def ended_row(job: Job, shards: int) -> Entity:
    """The row that finds a job when its retention is over; of our clock, whatever the engine's says."""
    return row_of(job.id, f"f|{sortable(job.history[-1].at)}|{job.id}", shards)


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
    stage = job.stage
    return {
        **row_of(job.id, f"n|{job.id}", shards),
        "State": job.state.value,
        "Due": text_of(job.due),
        "Target": job.target.model_dump_json() if job.target else "",
        "Cancel": job.cancel,
        "Misses": job.misses,
        "Listed": listing_key(job),
        "Status": job.status_file,
        "Stage": stage.sequence,
        "Since": text_of(stage.at),
        **split("Packed", packed(job)),
    }


def active_of(entity: Mapping[str, Any]) -> Active:
    """What the index row says."""
    return Active(
        job_id=str(entity["RowKey"])[2:],
        state=JobState(entity["State"]),
        due=datetime.fromisoformat(entity["Due"]),
        target=Target.model_validate_json(entity["Target"]) if entity["Target"] else None,
        cancel=bool(entity["Cancel"]),
        misses=int(entity["Misses"]),
        listed=entity["Listed"],
        shown=_shown(entity),
        packed=joined("Packed", entity),
        etag=str(entity.get(ETAG, "")),
    )


def _shown(entity: Mapping[str, Any]) -> Shown | None:
    if not entity.get("Status"):
        return None
    return Shown(entity["Status"], int(entity["Stage"]), datetime.fromisoformat(entity["Since"]))


def listed_rows(job: Job, shards: int) -> list[Entity]:
    """The row that puts the job into the listing, and one by its turn, if it has to wait for that."""
    keys = [f"l|{listing_key(job)}", *([f"t|{listed(job.turn)}|{job.id}"] if job.turn else ())]
    return [{**row_of(job.id, key, shards), "Source": job.source} for key in keys]


def listing_key(job: Job) -> str:
    """Sorts newest first."""
    return f"{listed(job.created)}|{job.id}"


def listed(moment: datetime) -> str:
    """A moment as the listing sorts it."""
    return f"{_FAR - int(moment.timestamp() * 1000):015d}"


def sortable(moment: datetime) -> str:
    """A moment as text that sorts oldest first."""
    return f"{int(moment.timestamp() * 1000):015d}"


def moment_of(key: str) -> datetime:
    """The moment in the key of a row of the listing, or of a turn, after its kind."""
    return datetime.fromtimestamp((_FAR - int(key[:15])) / 1000, UTC)


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


def notices_of_rows(found: Iterable[Mapping[str, Any]]) -> list[Notice]:
    """The events of some rows, by sequence. Of one that stands in two, the undelivered one counts."""
    latest = {e["Event"]: e for e in sorted(found, key=lambda e: str(e["RowKey"]))}  # e| before o|
    return sorted(map(notice_of_row, latest.values()), key=lambda notice: notice.sequence)


def notice_of_row(entity: Mapping[str, Any]) -> Notice:
    """The event that a row holds."""
    return Notice.model_validate_json(joined("Notice", entity))


def range_of(
    shard: int, kind: str, *, due: str = "", beyond: str = "", equal: tuple[str, str] = ("", "")
) -> Range:
    """The rows of a kind in a shard."""
    return Range(partition(shard), f"{kind}|", f"{kind}}}", due, beyond, equal=equal)


def unfinished(shard: int, now: datetime) -> Range:
    """Index rows and events that are due: their kinds are neighbours, so one range holds both."""
    due, never = due_range(now)
    return Range(partition(shard), "n|", "o}", due, never, due_from="o|", etags=True)


def due_range(now: datetime) -> tuple[str, str]:
    """The `Due` columns up to the first, or beyond the second, are due; compared as text."""
    return text_of(now), text_of(now + LONGEST_DELIVERY_WAIT)


def row_of(job_id: str, key: str, shards: int) -> Entity:
    """The keys of a row of a job."""
    return {"PartitionKey": partition(shard_of(job_id, shards)), "RowKey": key}


def text_of(moment: datetime) -> str:
    """A moment as columns have it; compared as text."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def split(name: str, text: str) -> dict[str, str]:
    """A long text as columns, each as short as the service wants them."""
    return {f"{name}{n}": text[at : at + _CHUNK] for n, at in enumerate(range(0, max(1, len(text)), _CHUNK))}


def joined(name: str, entity: Mapping[str, Any]) -> str:
    """The text that some columns hold."""
    parts: list[str] = []
    while f"{name}{len(parts)}" in entity:
        parts.append(entity[f"{name}{len(parts)}"])
    return "".join(parts)
