"""The writes that health tries, over the service: wherever the app writes, and they leave nothing."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from azure.core.pipeline.transport import AioHttpTransport

from local.azurite import Azurite
from shared.adapters.storage.activity import BlobActivity
from shared.adapters.storage.archive import BlobArchive
from shared.adapters.storage.drops import BlobDrops
from shared.adapters.storage.queues import StorageQueues
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.tables import tables
from shared.adapters.storage.wire.bloblist import list_blobs
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.rest import Answer, Request, Send
from shared.adapters.storage.wire.resttable import RestTable
from shared.core.job import JobState
from shared.core.ledger.activity import Act
from shared.delivery.deliver import finish
from shared.intake.arrive import message_arrived
from shared.operate.ready import ready
from tests.unit.world import World, job_json

pytestmark = pytest.mark.asyncio(loop_scope="session")

_READS = ("GET", "HEAD")
_REFUSED = {"x-ms-error-code": "AuthorizationPermissionMismatch"}


@dataclass
class Wire:
    """Every request of an account: a host and port for each service, and the first level of the path."""

    writes: set[tuple[int, str]] = field(default_factory=set)
    count: int = 0
    #: whether storage refuses what this identity may not do: to write
    read_only: bool = False

    def refuses(self, verb: str, url: str) -> bool:
        """Note a request. Returns whether it is refused."""
        self.count += 1
        if verb in _READS:
            return False
        address, _, path = url.partition("://")[2].partition("/")
        _, first, *_ = path.partition("?")[0].split("/")
        port = int(address.rpartition(":")[2])
        self.writes.add((port, "" if first.startswith("$") else first))
        return self.read_only

    def wrap(self, send: Send) -> Send:
        """The requests that go without the SDK."""

        async def send_or_refuse(request: Request) -> Answer:
            if self.refuses(request.verb, request.url):
                return Answer(403, _REFUSED, b"")
            return await send(request)

        return send_or_refuse

    def transport(self) -> AioHttpTransport:
        """Those of the SDK."""
        wire = self

        class Counted(AioHttpTransport):  # type: ignore[misc]
            async def send(self, request: Any, **options: Any) -> Any:
                refused = wire.refuses(request.method, request.url)
                answer = await super().send(request, **options)
                if refused:
                    answer.status_code = 403
                    answer.headers.update(_REFUSED)
                return answer

        return Counted()


@dataclass
class Deployment:
    world: World
    wire: Wire
    account: Account
    containers: tuple[str, ...]


@pytest_asyncio.fixture(loop_scope="session")
async def app(storage: Azurite) -> AsyncIterator[Deployment]:
    """The dispatcher with every adapter that writes, as `wiring` puts them together."""
    wire, world, name = Wire(), World(), uuid.uuid4().hex[:16]
    account = Account(Connection(storage.connection_string), wire.transport, around=wire.wrap, backoff=0.0)
    store = ShardedTable(RestTable(account, f"t{name}"), 1)
    world.use(
        **tables(store)._asdict(),
        archive=BlobArchive(account, f"a{name}"),
        activity=BlobActivity(account, f"a{name}"),
        drops=BlobDrops(account, f"d{name}", f"r{name}", []),
        queues=StorageQueues(account),
        troubles=store.troubles,
    )
    yield Deployment(world, wire, account, (f"a{name}", f"r{name}", f"d{name}"))
    await account.close()


async def test_health_tries_a_write_wherever_the_app_writes_and_leaves_nothing(app: Deployment) -> None:
    await app.world.ports.ledger.active(0)  # the table is there
    app.wire.writes.clear()

    assert (await ready(app.world.ports)).ready

    tried = app.wire.writes.copy()
    for container in app.containers:
        assert (await list_blobs(app.account.lists, container, "", 10, "", deep=True)).blobs == ()
    metadata = await app.account.queues.call("GET", "/jobs", {"comp": "metadata"})
    assert [name for name in metadata.headers if name.startswith("x-ms-meta-")] == []

    app.wire.writes.clear()
    await _work(app.world)
    queues = urlsplit(app.account.queues.base).port
    assert {place for place in app.wire.writes if place[0] != queues} <= tried
    assert queues in {port for port, _ in tried}


async def _work(world: World) -> None:
    """A job from its message to its archive, and an act in the trail."""
    envelope = {"spec": job_json(), "notify": [{"url": "https://hooks.example.com/x"}]}
    await message_arrived(world.ports, json.dumps(envelope).encode(), "m1")
    for name in [*world.engine.jobs]:
        world.engine.set_state(name, JobState.SUCCEEDED)
    await world.make_pass()
    await finish(world.ports)
    await world.ports.archive.put("jobs/x.jsonl", b"{}\n")
    await world.ports.activity.add(Act(datetime.now(UTC), "ann", (), "pause", "", 200))


async def test_an_identity_that_may_only_read_is_not_healthy(app: Deployment) -> None:
    assert (await ready(app.world.ports)).ready
    app.wire.read_only = True
    app.world.pass_time(61)

    readiness = await ready(app.world.ports)

    assert (readiness.storage, readiness.ready, len(readiness.unwritable)) == (True, False, 4)


async def test_health_costs_four_writes_a_minute_and_five_reads_each_time(app: Deployment) -> None:
    await ready(app.world.ports)  # makes table, queue and containers
    app.world.pass_time(61)
    app.wire.count = 0

    await ready(app.world.ports)
    assert app.wire.count == 4 + 5 + 1  # the document of teams, which is read every 15 seconds

    app.world.pass_time(6)
    await ready(app.world.ports)
    assert app.wire.count == 4 + 5 + 1 + 5
