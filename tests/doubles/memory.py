"""Every port in memory, as strict as the services: versions, limits, whole transactions. For tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from shared.adapters.storage import rows
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import ETAG, Operation, Range, Refused, Row, Table, VersionedRow
from shared.core.errors import Misuse, SlipwayError, Unavailable
from shared.core.job import Job
from shared.core.ledger.activity import Act, Hour
from shared.core.ledger.finished_jobs import LineLocation
from shared.core.ports import IN_ARCHIVE, Blob, BlobPage, Content, Posted
from shared.core.trouble import Troubles
from slipway.client.drops.folder_drops import folders_among

#: What the table service allows: UTF-16 units of a string, bytes of an entity, entities of a transaction.
_STRING, _ENTITY, _TRANSACTION = 32_768, 1 << 20, 100

Clock = Callable[[], datetime]


class MemoryTable:
    """A table as strict as the service's: versions, limits, whole transactions, one partition each."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.held: dict[tuple[str, str], VersionedRow] = {}
        self._count = 0
        #: what the service says to transactions, if it refuses them
        self.refusal = ""

    async def make(self) -> bool:
        return False

    async def get(self, partition: str, row: str) -> VersionedRow | None:
        return self.held.get((partition, row))

    async def rows(self, key_range: Range) -> list[Row]:
        inside = sorted(
            key
            for key in self.held
            if key[0] == key_range.partition
            and key[1] >= key_range.first
            and (not key_range.last or key[1] < key_range.last)
        )
        result = [self.held[key].row for key in inside]
        result = [row for row in result if _fits(row, key_range)]
        if key_range.etags:
            result = [{**row, ETAG: self.held[_key(row)].etag} for row in result]
        return result[: key_range.limit] if key_range.limit else result

    async def transact(self, operations: Sequence[Operation]) -> list[str]:
        _refuse(self.refusal)
        keys = [_key(operation.row) for operation in operations]
        if not 0 < len(keys) <= _TRANSACTION or len({partition for partition, _ in keys}) > 1:
            raise ValueError(f"a transaction holds 1 to {_TRANSACTION} rows of one partition")
        if len(set(keys)) < len(keys):
            raise ValueError("the service refuses a transaction that names a row twice")
        for operation in operations:
            self._check(operation)
        return [self._apply(operation) for operation in operations]

    def _check(self, operation: Operation) -> None:
        held = self.held.get(_key(operation.row))
        if operation.verb == "create" and held is not None:
            raise Refused(409)
        if operation.verb in ("replace", "merge", "delete"):
            if held is None:
                raise Refused(404)
            if operation.etag not in ("*", held.etag):
                raise Refused(412)
        if operation.verb != "delete":
            _check_size(operation.row)

    def _apply(self, operation: Operation) -> str:
        key = _key(operation.row)
        if operation.verb == "delete":
            del self.held[key]
            return ""
        self._count += 1
        etag = f'W/"{self._count}"'
        copies = self.held[key].row if operation.verb in ("merge", "upsert") and key in self.held else {}
        self.held[key] = VersionedRow({**copies, **operation.row}, etag, self._clock())
        return etag


class MemoryLedger(TableLedger):
    """The real ledger over a table in memory, or over `table`, which may be shared or have faults."""

    def __init__(self, clock: Clock, shards: int = 4, table: Table | None = None) -> None:
        own = MemoryTable(clock)
        #: every row with its version
        self.held = own.held
        self.table: Table = own if table is None else table
        self.store = ShardedTable(self.table, shards, linger=0, troubles=Troubles(clock))
        super().__init__(self.store)

    @property
    def rows(self) -> dict[tuple[str, str], Row]:
        """Every row of a job or a drop, by partition and key."""
        return {key: result.row for key, result in self.held.items() if key[0] != "meta"}

    @property
    def jobs(self) -> list[Job]:
        """Every record, or its tombstone."""
        return [
            rows.record_of(row)
            for (_, key), row in self.rows.items()
            if key.startswith(("n|", "j|")) and not rows.is_stub(row)
        ]


def _fits(row: Row, key_range: Range) -> bool:
    column, value = key_range.equal
    if column and row.get(column) != value:
        return False
    if row["RowKey"] < key_range.due_from:
        return True
    if not key_range.due:
        return True
    due = row.get("Due")
    if not isinstance(due, str):
        return False  # the service compares a text with texts only
    return due <= key_range.due or (bool(key_range.beyond) and due > key_range.beyond)


def _check_size(row: Row) -> None:
    texts = [text for text in row.values() if isinstance(text, str)]
    units = [len(text.encode("utf-16-le")) // 2 for text in texts]
    if max(units) > _STRING or 2 * sum(units) > _ENTITY:
        raise Misuse("the record is larger than a table entity may be", status=413)


def _refuse(why: str) -> None:
    if why:
        raise Unavailable(why)


def _key(row: Row) -> tuple[str, str]:
    return row["PartitionKey"], row["RowKey"]


@dataclass
class MemoryDrops:
    """The drops port over two dicts."""

    clock: Clock
    blobs: dict[str, tuple[bytes, Blob]] = field(default_factory=dict)
    receipt_files: dict[str, bytes] = field(default_factory=dict)
    #: the number of the line in each STATUS; and every line that was written
    lines: dict[str, int] = field(default_factory=dict)
    written: list[tuple[str, bytes]] = field(default_factory=list)
    container: str = "scripts"
    count: int = 0
    #: blobs on a page
    most: int = 100
    #: what storage says to writes, if it refuses them; and how often one was tried
    refusal: str = ""
    tries: int = 0

    def upload(self, name: str, body: bytes, mode: str = "", *, archived: bool = False) -> Blob:
        self.count += 1
        now = self.clock().replace(microsecond=0)
        blob = Blob(name, f"0x{self.count}", now, len(body), mode, archived)
        self.blobs[name] = (body, blob)
        return blob

    async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> BlobPage:
        """The blobs with a prefix, in order of name, `most` at a time."""
        names = sorted(
            name
            for name in self.blobs
            if name.startswith(prefix) and name > after and (deep or "/" not in name[len(prefix) :])
        )
        more = names[self.most - 1] if len(names) > self.most else ""
        below = (
            () if deep or after else folders_among(prefix, (n for n in self.blobs if n.startswith(prefix)))
        )
        return BlobPage(tuple(self.blobs[name][1] for name in names[: self.most]), more, below)

    async def find(self, name: str) -> Blob | None:
        return self.blobs.get(name, (b"", None))[1]

    async def read(self, name: str, *, etag: str | None = None, limit: int) -> Content | None:
        body, blob = self.blobs.get(name, (b"", None))
        if blob is None or (etag is not None and etag != blob.etag):
            return None
        if blob.archived:
            raise Misuse(f"{name} {IN_ARCHIVE}", status=409)
        if len(body) > limit:
            raise Misuse(f"{name} has {len(body)} bytes, more than {limit}")
        return Content(body, blob.etag)

    async def read_reference(self, reference: str, *, limit: int) -> bytes | None:
        """Read a blob, from the drop container only."""
        container, _, name = reference.partition("/")
        if container != self.container:
            raise Misuse(f"container {container!r} may not be read")
        result = await self.read(name, limit=limit)
        return result.data if result else None

    async def put_receipt_file(self, name: str, body: bytes, *, replace: bool) -> None:
        if replace or name not in self.receipt_files:
            self.receipt_files[name] = body

    async def read_receipt_file(self, name: str, *, limit: int) -> bytes | None:
        return self.receipt_files.get(name)

    async def delete_receipt_file(self, name: str) -> None:
        self.receipt_files.pop(name, None)

    async def put_status(self, name: str, line: bytes, sequence: int, *, fresh: bool = False) -> bool:
        if sequence <= self.lines.get(name, 0):
            return False
        self.lines[name] = sequence
        self.receipt_files[name] = line
        self.written.append((name, line))
        return True

    async def try_write(self) -> None:
        self.tries += 1
        _refuse(self.refusal)


@dataclass
class MemoryArchive:
    """The archive port over a dict."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    refusal: str = ""

    async def put(self, name: str, lines: bytes) -> None:
        self.blobs[name] = lines

    async def try_write(self) -> None:
        _refuse(self.refusal)

    async def read(self, place: LineLocation) -> bytes | None:
        result = self.blobs.get(place.name)
        return None if result is None else result[place.start : place.start + place.length]


@dataclass
class MemoryActivity:
    """The trail over a list."""

    acts: list[Act] = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)
    reads: int = 0
    error: SlipwayError | None = None

    async def add(self, act: Act) -> None:
        if self.error is not None:
            raise self.error
        self.acts.append(act)
        self.blobs[act.blob] = self.blobs.get(act.blob, b"") + act.line

    async def days(self) -> list[str]:
        if self.error is not None:
            raise self.error
        return [*{name.split("/")[1] for name in self.blobs}]

    async def hours(self, day: str) -> list[Hour]:
        parts = {name.split("/")[2]: data for name, data in self.blobs.items() if f"/{day}/" in name}
        return [Hour(name.removesuffix(".jsonl"), len(data)) for name, data in parts.items()]

    async def read(self, day: str, hour: str, start: int, end: int) -> bytes:
        self.reads += 1
        return self.blobs.get(f"activity/{day}/{hour}.jsonl", b"")[start:end]


@dataclass
class MemoryQueues:
    """The queues port: keeps the messages in order."""

    messages: list[tuple[str, str, float]] = field(default_factory=list)
    refusal: str = ""

    async def try_write(self, queue: str) -> None:
        _refuse(self.refusal)

    async def send(self, queue: str, body: str, *, delay: float = 0) -> str:
        self.messages.append((queue, body, delay))
        return str(len(self.messages))


@dataclass
class MemoryWebhooks:
    """The webhooks port: returns `answers` in turn, the last one forever."""

    answers: list[Posted] = field(default_factory=lambda: [Posted("delivered", 204, "2xx", None, 1)])
    posts: list[tuple[str, str, bytes]] = field(default_factory=list)

    async def post(
        self, url: str, webhook_id: str, body: bytes, secrets: Sequence[str], now: datetime
    ) -> Posted:
        self.posts.append((url, webhook_id, body))
        return replace(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])

    async def send(self, url: str, body: bytes, headers: dict[str, str], now: datetime) -> Posted:
        return await self.post(url, headers["webhook-id"], body, (), now)
