"""The ports of the use cases to storage, webhooks and keys. Pure.

Some have modules of their own, such as `engine`, that to a scheduler, and `ledger.ledger` to the records.
Every verb may be repeated safely. Adapters return or raise; they never call back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from shared.core.caller import NamedKeys, Tokens
from shared.core.code.snapshots import Snapshots
from shared.core.engine import Cluster, Engine
from shared.core.ledger.activity import Activity
from shared.core.ledger.dead import DeadMessages
from shared.core.ledger.finished_jobs import Archive, FinishedJobs
from shared.core.ledger.job_sweeps import JobSweeps
from shared.core.ledger.ledger import Ledger, Outbox
from shared.core.ledger.node_history import NodeHistories
from shared.core.meter import Meter, NoMeter
from shared.core.notify.queues import Queues
from shared.core.notify.receivers import Receivers
from shared.core.pacing.breaker import Breaker
from shared.core.pacing.looks import Looks
from shared.core.pacing.memo import Memo
from shared.core.pacing.shared_call import JointLooks
from shared.core.policy import Policy
from shared.core.relations.permit import Certificates
from shared.core.teams.teams_store import TeamsStore
from shared.core.trouble import Troubles


@dataclass(frozen=True)
class Blob:
    """One blob of the drop container, as listed. `modified` is the storage's clock, in whole seconds."""

    name: str
    etag: str
    modified: datetime
    size: int
    #: the metadata `mode`: "explain" for a file that is not to run
    mode: str = ""
    #: whether its content is in the archive tier, where nothing can read it
    archived: bool = False


#: What is said of such a blob, after its name, and the remedy.
IN_ARCHIVE = "is in the archive tier, in which nothing can read it"
OUT_OF_ARCHIVE = "move it to the hot or cool tier, which takes up to 15 hours"


class BlobPage(NamedTuple):
    """Some blobs, and folders beside them, in the order of names; `next` is the start of the rest, or ""."""

    blobs: tuple[Blob, ...]
    next: str = ""
    folders: tuple[str, ...] = ()


class Content(NamedTuple):
    """The bytes of a blob, and its ETag."""

    data: bytes
    etag: str


class Drops(Protocol):
    """The drop container, and the container of receipts."""

    async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> BlobPage:
        """Some of the blobs whose names start with the prefix; with `deep=False` none in a folder below it.

        `after`: the `next` of an earlier page. A page may be empty and have a next one.
        """

    async def find(self, name: str) -> Blob | None:
        """One blob as lists show it, in one small request; None if there is none. Its name has no `..`."""

    async def read(self, name: str, *, etag: str | None = None, limit: int) -> Content | None:
        """Content and ETag; None if it is missing or has another ETag. Raises Misuse above `limit` bytes."""

    async def read_reference(self, reference: str, *, limit: int) -> bytes | None:
        """A blob named `container/name`; only containers that may be read."""

    async def put_receipt_file(self, name: str, body: bytes, *, replace: bool) -> None:
        """Write into `runs`. Without `replace` an existing file stays."""

    async def read_receipt_file(self, name: str, *, limit: int) -> bytes | None:
        """A file in `runs`, such as a receipt; None if there is none. Raises Misuse above `limit` bytes."""

    async def delete_receipt_file(self, name: str) -> None:
        """Delete a file in `runs` if it is there."""

    async def put_status(self, name: str, line: bytes, sequence: int, *, fresh: bool = False) -> bool:
        """Write a line, or a receipt, into `runs`, unless one with the same or a greater number is there.

        Returns whether it was written. Free if this process wrote or saw such a line. `fresh`: probably none.
        """

    async def try_write(self) -> None:
        """Make a write into `runs` that leaves nothing. Raises Unavailable if it is refused."""


class Seal(Protocol):
    """Sealing of secret values that people sent."""

    @property
    def available(self) -> bool:
        """Whether a key is configured."""

    def seal(self, value: str, context: str) -> str:
        """The sealed text; it opens only with the same `context`."""

    def unseal(self, text: str, context: str) -> str:
        """The value. Raises Misconfigured when the key does not fit."""

    def code_of(self, text: str) -> str:
        """A code of a text, always the same, that only the app can tell; "" without a key."""


#: `retry`: later; `gone`: it wants no more events; `refused`: by a gate, for good; `busy`: too many at once.
Outcome = Literal["delivered", "retry", "gone", "refused", "busy"]


@dataclass(frozen=True)
class Posted:
    """The outcome of one POST, in words that may be shown: no body, no resolved address, no query."""

    outcome: Outcome
    status: int | None
    detail: str
    retry_after: float | None  # seconds, at most a day; None if the receiver named none
    milliseconds: int


class Webhooks(Protocol):
    """Sends events to receivers."""

    async def post(
        self, url: str, webhook_id: str, body: bytes, secrets: Sequence[str], now: datetime
    ) -> Posted:
        """One try, bounded in time, behind both gates."""


class Channels(Protocol):
    """Sends events as messages that people read."""

    async def send(self, name: str, event_id: str, event: str, now: datetime) -> Posted:
        """One try, bounded in time. Raises Misconfigured for a name that the settings do not have."""


@dataclass(frozen=True)
class BlobFolder:
    """A folder of a container in the deployment's own account; `path` has no slash at its ends."""

    container: str
    path: str


@dataclass(frozen=True)
class Address:
    """An address with which its holder can read a blob for a while; `modified` is as in `Blob`."""

    name: str
    size: int
    modified: datetime
    url: str = field(repr=False)


@dataclass(frozen=True)
class AddressPage:
    """Addresses in the order of names, valid until `expires`; `next` is the start of the next page, or ""."""

    addresses: tuple[Address, ...]
    next: str
    expires: datetime


class Addresses(Protocol):
    """Short-lived addresses of blobs in the deployment's own account: each for one blob, read only."""

    @property
    def account(self) -> str:
        """The name of the account."""

    async def page(self, folder: BlobFolder, after: str) -> AddressPage:
        """Some of the blobs directly in a folder. `after`: the `next` of an earlier page. Raises Misuse."""

    async def find(self, folder: BlobFolder, name: str) -> Address | None:
        """One blob in a folder; None if it is missing, or represents a link."""


class Engines(Protocol):
    """The configured clusters and their engines, loaded at first use."""

    @property
    def clusters(self) -> Mapping[str, Cluster]:
        """The configured clusters by name."""

    def get(self, engine: str) -> Engine:
        """The engine by name. Raises Misconfigured."""


@dataclass(frozen=True)
class Ports:
    """Everything a use case may touch. Built once per process by `wiring`."""

    ledger: Ledger
    outbox: Outbox
    dead: DeadMessages
    finished: FinishedJobs
    archive: Archive
    activity: Activity
    node_histories: NodeHistories
    job_sweeps: JobSweeps
    teams: TeamsStore
    drops: Drops
    snapshots: Snapshots
    queues: Queues
    webhooks: Webhooks
    channels: Channels
    engines: Engines
    seal: Seal
    policy: Policy
    clock: Callable[[], datetime]
    token: Callable[[], str]
    jitter: Callable[[], float]
    pause: Callable[[float], Awaitable[None]]  # for less than a second
    troubles: Troubles  # the same object in which the ledger notes unreadable rows
    breaker: Breaker = field(default_factory=Breaker)  # by cluster
    receivers: Receivers = field(default_factory=Receivers)
    secrets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by name, newest first
    #: storage account → key, filled into mounts at submission, never stored
    account_keys: Mapping[str, str] = field(default_factory=dict)
    #: settings that clients need to send files, by name; no secrets
    client_settings: Mapping[str, str] = field(default_factory=dict)
    #: function that the host does not run → the setting that is the cause
    functions_off: Mapping[str, str] = field(default_factory=dict)
    memo: Memo = field(default_factory=Memo)
    chores: Memo = field(default_factory=Memo)  # when this process did what no job waits for
    joint: JointLooks = field(default_factory=JointLooks)  # looks at folders of drops
    looks: Looks = field(default_factory=Looks)  # for jobs that may be idle
    meter: Meter = field(default_factory=NoMeter)
    addresses: Addresses | None = None  # None if every byte of a job's files goes through the app
    tokens: Tokens | None = None  # None if the host checks function keys
    keys: NamedKeys | None = None  # None if function keys have no names
    certificates: Certificates | None = None  # None without a key that signs them
