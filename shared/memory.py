"""Every port in memory, as strict as the services: versions, limits, whole transactions. For tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from shared.errors import Exists, Misuse
from shared.events import Notice
from shared.job import Job, JobState, Stored
from shared.ports import Active, Blob, Change, Page, Posted, Seen
from shared.spec import JsonObject
from shared.storage import rows

#: What the table service allows: UTF-16 units of a string, bytes of an entity, entities of a transaction.
_STRING, _ENTITY, _TRANSACTION = 32_768, 1 << 20, 100

Clock = Callable[[], datetime]
Row = dict[str, Any]


class MemoryLedger:
    """The ledger port over a dict of rows; the same rows as the table's."""

    def __init__(self, clock: Clock, shards: int = 4) -> None:
        self._clock = clock
        self._shards = shards
        self.rows: dict[tuple[str, str], Row] = {}
        self._versions: dict[tuple[str, str], tuple[str, datetime]] = {}
        self._count = 0

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return self._shards

    async def create(self, job: Job, spec: JsonObject | None, notice: Notice | None) -> Stored:
        """All rows or none."""
        new = [rows.record_row(job, self._shards), rows.listing_row(job, self._shards)]
        new += [rows.spec_row(job.id, spec, self._shards)] if spec is not None else []
        new += [] if job.state.terminal else [rows.active_row(job, self._shards)]
        new += [rows.notice_row(notice, self._shards)] if notice else []
        if _key(new[0]) in self.rows:
            if (ours := self._ours(_key(new[0]), job.history[0].token)) is not None:
                return ours
            raise Exists(job.id)
        self._write(new)
        return Stored(job, self._versions[_key(new[0])][0], None)

    async def get(self, job_id: str) -> Stored | None:
        """A copy by value."""
        key = self._place(job_id, f"j|{job_id}")
        row = self.rows.get(key)
        return Stored(rows.job_of(row), *self._versions[key]) if row else None

    async def spec(self, job_id: str) -> JsonObject | None:
        """The document."""
        row = self.rows.get(self._place(job_id, f"s|{job_id}"))
        return rows.spec_of(row) if row else None

    async def commit(self, changes: Sequence[Change]) -> list[Stored | None]:
        """Each change by itself, whole or not at all."""
        return [self._commit(change) for change in changes]

    async def active(self, shard: int) -> list[Active]:
        """The index rows of a shard."""
        return [rows.active_of(row) for row in self._range(shard, "a")]

    async def undelivered(self, shard: int, before: datetime) -> list[Notice]:
        """The outbox rows of a shard that are due."""
        due = rows.due_before(before)
        return [rows.notice_of_row(row) for row in self._range(shard, "o") if row["Due"] <= due]

    async def notice(self, job_id: str, sequence: int) -> Notice | None:
        """One outbox row."""
        row = self.rows.get(self._place(job_id, rows.notice_key(job_id, sequence)))
        return rows.notice_of_row(row) if row else None

    async def settle(self, notice: Notice) -> None:
        """Replace while pending, archive when settled."""
        key = self._place(notice.job_id, rows.notice_key(notice.job_id, notice.sequence))
        if key not in self.rows:
            return
        if not notice.settled:
            self._write([rows.notice_row(notice, self._shards)])
            return
        del self.rows[key], self._versions[key]
        kinds = ["e", *(["x"] if any(target.state == "dead" for target in notice.targets) else [])]
        self._write([rows.notice_row(notice, self._shards, kind) for kind in kinds])

    async def dead(self) -> list[Notice]:
        """The dead letters."""
        return [rows.notice_of_row(row) for n in range(self._shards) for row in self._range(n, "x")]

    async def find(self, *, states: frozenset[JobState] | None, limit: int, after: str | None) -> Page:
        """Newest first."""
        if after is not None and not rows.LISTING_KEY.fullmatch(after):
            raise Misuse("`after` is not the `next` of a page", remedy="leave it out to start at the newest")
        keys = sorted(row["RowKey"][2:] for n in range(self._shards) for row in self._range(n, "l"))
        found: list[Job] = []
        for key in keys:
            stored = await self.get(key.rpartition("|")[2])
            if (after is None or key > after) and stored and (states is None or stored.job.state in states):
                found.append(stored.job)
                if len(found) == limit:
                    return Page(tuple(found), key)
        return Page(tuple(found))

    async def seen(self, path: str) -> Seen | None:
        """What is remembered."""
        row = self.rows.get(_key(rows.seen_row(Seen(path, {}, "", 1), self._shards)))
        return rows.seen_of(row) if row else None

    async def remember(self, seen: Seen) -> None:
        """Remember."""
        self._write([rows.seen_row(seen, self._shards)])

    async def all_seen(self) -> dict[str, Seen]:
        """Everything remembered."""
        found = [rows.seen_of(row) for key, row in self.rows.items() if key[0].startswith("d")]
        return {seen.path: seen for seen in found}

    def _commit(self, change: Change) -> Stored | None:
        job = change.transition.after
        record = rows.record_row(job, self._shards)
        key = _key(record)
        if key not in self.rows or self._versions[key][0] != change.stored.etag:
            return self._ours(key, change.transition.token)
        index = rows.active_row(job, self._shards)
        new = [record, *([] if job.state.terminal else [index])]
        new += [rows.notice_row(change.notice, self._shards)] if change.notice else []
        self._write(new)
        if job.state.terminal:
            self.rows.pop(_key(index), None)
            self._versions.pop(_key(index), None)
        return Stored(job, self._versions[key][0], None)

    def _ours(self, key: tuple[str, str], token: str) -> Stored | None:
        existing = rows.job_of(self.rows[key]) if key in self.rows else None
        return Stored(existing, *self._versions[key]) if existing and existing.wrote(token) else None

    def _write(self, new: list[Row]) -> None:
        assert len(new) <= _TRANSACTION
        for row in new:
            texts = [text for text in row.values() if isinstance(text, str)]
            units = [len(text.encode("utf-16-le")) // 2 for text in texts]
            if max(units) > _STRING or 2 * sum(units) > _ENTITY:
                raise Misuse("the record is larger than a table entity may be", status=413)
        for row in new:
            self._count += 1
            self.rows[_key(row)] = dict(row)
            self._versions[_key(row)] = (f'W/"{self._count}"', self._clock())

    def _place(self, job_id: str, row: str) -> tuple[str, str]:
        return rows.partition(rows.shard_of(job_id, self._shards)), row

    def _range(self, shard: int, kind: str) -> list[Row]:
        partition = rows.partition(shard)
        keys = sorted(k for k in self.rows if k[0] == partition and k[1].startswith(f"{kind}|"))
        return [self.rows[key] for key in keys]


def _key(row: Row) -> tuple[str, str]:
    return row["PartitionKey"], row["RowKey"]


@dataclass
class MemoryDrops:
    """The drops port over two dicts."""

    clock: Clock
    blobs: dict[str, tuple[bytes, Blob]] = field(default_factory=dict)
    answers: dict[str, bytes] = field(default_factory=dict)
    #: the number of the line that each STATUS holds, and every line that was written
    lines: dict[str, int] = field(default_factory=dict)
    written: list[tuple[str, bytes]] = field(default_factory=list)
    container: str = "scripts"
    count: int = 0

    def upload(self, name: str, body: bytes, mode: str = "") -> Blob:
        """What a person does."""
        self.count += 1
        blob = Blob(name, f"0x{self.count}", self.clock().replace(microsecond=0), len(body), mode)
        self.blobs[name] = (body, blob)
        return blob

    async def list(self, prefix: str, *, deep: bool = True) -> list[Blob]:
        """By prefix, in order of names."""
        return [
            blob
            for name, (_, blob) in sorted(self.blobs.items())
            if name.startswith(prefix) and (deep or "/" not in name[len(prefix) :])
        ]

    async def read(self, name: str, *, etag: str | None = None, limit: int) -> tuple[bytes, str] | None:
        """One version."""
        body, blob = self.blobs.get(name, (b"", None))
        if blob is None or (etag is not None and etag != blob.etag):
            return None
        if len(body) > limit:
            raise Misuse(f"{name} has {len(body)} bytes, more than {limit}")
        return body, blob.etag

    async def read_reference(self, reference: str, *, limit: int) -> bytes | None:
        """Only the drop container may be read."""
        container, _, name = reference.partition("/")
        if container != self.container:
            raise Misuse(f"container {container!r} may not be read")
        found = await self.read(name, limit=limit)
        return found[0] if found else None

    async def put_answer(self, name: str, body: bytes, *, replace: bool) -> None:
        """Write."""
        if replace or name not in self.answers:
            self.answers[name] = body

    async def drop_answer(self, name: str) -> None:
        """Delete."""
        self.answers.pop(name, None)

    async def put_status(self, name: str, line: bytes, sequence: int, *, fresh: bool = False) -> None:
        """Write what is newer."""
        if sequence > self.lines.get(name, 0):
            self.lines[name] = sequence
            self.answers[name] = line
            self.written.append((name, line))


@dataclass
class MemoryQueues:
    """The queues port: what was sent, in order."""

    sent: list[tuple[str, str, float]] = field(default_factory=list)

    async def send(self, queue: str, body: str, *, delay: float = 0) -> None:
        """Keep it."""
        self.sent.append((queue, body, delay))


@dataclass
class MemoryWebhooks:
    """The webhooks port: `answers` are given in turn, the last one for ever."""

    answers: list[Posted] = field(default_factory=lambda: [Posted("delivered", 204, "2xx", None, 1)])
    posts: list[tuple[str, str, bytes]] = field(default_factory=list)

    async def post(
        self, url: str, webhook_id: str, body: bytes, secrets: Sequence[str], now: datetime
    ) -> Posted:
        """Keep it, and answer."""
        self.posts.append((url, webhook_id, body))
        return replace(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])
