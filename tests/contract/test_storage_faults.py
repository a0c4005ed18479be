"""Faults below the storage SDK, against Azurite: every request of a job's way, each kind of fault."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from azure.core.exceptions import ServiceRequestError, ServiceResponseError
from azure.core.pipeline.transport import AioHttpTransport

from local.azurite import Azurite
from shared.adapters.storage.dead import TableDeadMessages
from shared.adapters.storage.drops import BlobDrops
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.queues import StorageQueues
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.rest import Answer, NoAnswer, Request, Send
from shared.adapters.storage.wire.resttable import RestTable
from shared.core.errors import SlipwayError
from shared.core.job import JobState
from shared.core.ledger.listing import Query
from shared.delivery.deliver import deliver, finish
from shared.intake.arrive import message_arrived
from shared.lifecycle.sweeper import make_pass
from tests.breadth import every_few
from tests.unit.world import World, job_json

pytestmark = pytest.mark.asyncio(loop_scope="session")

FAULTS = ("unsent", "lost", "503", "429", "down")


@dataclass
class Faults:
    """What happens to the n-th request; `down` is an outage that outlasts every retry."""

    kind: str = ""
    at: int = 0
    count: int = 0
    requests: list[str] = field(default_factory=list)

    def now(self) -> str:
        self.count += 1
        if self.kind == "down" and self.at <= self.count < self.at + 5:
            return "unsent"
        return self.kind if self.count == self.at else ""


class FaultyTransport(AioHttpTransport):  # type: ignore[misc]
    """The real transport, with a fault where the plan has one."""

    def __init__(self, faults: Faults) -> None:
        super().__init__()
        self._faults = faults

    async def send(self, request: Any, **options: Any) -> Any:
        self._faults.requests.append(f"{request.method} {request.url.partition('?')[0]}")
        fault = self._faults.now()
        if fault == "unsent":
            raise ServiceRequestError("the connection was refused")
        answer = await super().send(request, **options)
        if fault == "lost":
            raise ServiceResponseError("the connection was reset")
        if fault in ("503", "429"):
            # The service did the work, and a proxy on the way said this.
            answer.status_code = int(fault)
            answer.headers["Retry-After"] = "0"
        return answer


def _faulty(faults: Faults) -> Callable[[Send], Send]:
    """The same faults around the requests that go without the SDK."""

    def decorate(send: Send) -> Send:
        async def send_faulty(request: Request) -> Answer:
            faults.requests.append(f"{request.verb} {request.url.partition('?')[0]}")
            fault = faults.now()
            if fault == "unsent":
                raise NoAnswer("the connection was refused")
            answer = await send(request)
            if fault == "lost":
                raise NoAnswer("the connection was reset")
            if fault in ("503", "429"):
                return replace(answer, status=int(fault), headers={**answer.headers, "retry-after": "0"})
            return answer

        return send_faulty

    return decorate


@asynccontextmanager
async def _world(storage: Azurite, faults: Faults) -> AsyncIterator[World]:
    world = World()
    name = uuid.uuid4().hex[:16]
    account = Account(
        Connection(storage.connection_string),
        lambda: FaultyTransport(faults),
        around=_faulty(faults),
        backoff=0.0,
    )
    store = ShardedTable(RestTable(account, f"t{name}"), 1)
    world.ports = replace(
        world.ports,
        ledger=TableLedger(store),
        outbox=TableOutbox(store),
        dead=TableDeadMessages(store),
        drops=BlobDrops(account, f"d{name}", f"r{name}", ["scripts"]),
        queues=StorageQueues(account),
    )
    try:
        yield world
    finally:
        await account.close()


async def _journey(world: World) -> None:
    """A message that is repeated until it is acknowledged, and passes until the job has ended."""
    body = job_json()
    for _ in range(4):
        if await _survives(_message(world, body)):
            break
    for _ in range(8):
        for name, observation in list(world.engine.jobs.items()):
            if observation.state is JobState.QUEUED:
                world.engine.set_state(name, JobState.RUNNING)
            elif observation.state is JobState.RUNNING:
                world.engine.set_state(name, JobState.SUCCEEDED)
        world.pass_time(100)
        await _survives(make_pass(world.ports))
        await finish(world.ports)


async def _survives(act: Any) -> bool:
    try:
        await act
    except SlipwayError:
        return False
    return True


async def _message(world: World, document: Any) -> None:
    import json

    envelope = {"spec": document, "notify": [{"url": "https://hooks.example.com/x"}]}
    await message_arrived(world.ports, json.dumps(envelope).encode(), "m1")


async def _requests(storage: Azurite) -> int:
    faults = Faults()
    async with _world(storage, faults) as world:
        await _journey(world)
    return faults.count


@pytest.mark.parametrize("fault", every_few(FAULTS, 1))
async def test_a_fault_at_any_request_loses_nothing_and_doubles_nothing(storage: Azurite, fault: str) -> None:
    total = await _requests(storage)
    assert total > 10
    for at in range(1, total + 1):
        faults = Faults(fault, at)
        async with _world(storage, faults) as world:
            await _journey(world)
            page = await world.ports.ledger.find(Query(), limit=10, after=None)
            where = f"{fault} at {at}: {faults.requests[at - 1]}"
            assert [job.state for job in page.jobs] == [JobState.SUCCEEDED], where
            assert len(world.engine.started) == 1, where
            assert len({body for _, _, body in world.webhooks.posts}) == 1, where
            later = world.now.replace(year=2030)
            assert await world.ports.outbox.undelivered(0, later, timedelta(days=9)) == [], where


async def test_a_wake_up_that_comes_twice_finds_nothing_to_do(storage: Azurite) -> None:
    async with _world(storage, Faults()) as world:
        await _journey(world)
        (job,) = (await world.ports.ledger.find(Query(), limit=1, after=None)).jobs
        assert await deliver(world.ports, job.id, job.sequence) is None
