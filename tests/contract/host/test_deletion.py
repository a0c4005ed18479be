"""Deleting a message: authorised by key or signature, renewed, repeated, with errors that tell no secret."""

import logging
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from azure.core.exceptions import AzureError, HttpResponseError, ResourceNotFoundError
from azure.storage.queue import AccountSasPermissions, QueueMessage, ResourceTypes, generate_account_sas
from azure.storage.queue.aio import QueueClient

from local.azurite import ACCOUNT, KEY, Azurite
from local.host.deletion import Deletion
from local.host.storage import Accounts
from tests.contract.host.world import Storage

pytestmark = pytest.mark.asyncio(loop_scope="session")

#: In the seconds of signatures.
NOW = datetime.now(UTC).replace(microsecond=0)
CLOSE = 0


@dataclass
class Clock:
    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Service:
    """A queue service that gives the statuses of a test in turn, then 204; CLOSE ends the connection."""

    statuses: list[int]
    url: str = ""
    requests: list[web.Request] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        self.requests.append(request)
        status = self.statuses.pop(0) if self.statuses else 204
        if status == CLOSE:
            assert request.transport is not None
            request.transport.close()
        return web.Response(status=status or 204)

    def expiries(self) -> list[datetime]:
        return [datetime.fromisoformat(request.query["se"]) for request in self.requests]


@asynccontextmanager
async def service(*statuses: int) -> AsyncIterator[Service]:
    result = Service(list(statuses))
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", result.answer)
    async with TestServer(app) as server:
        result.url = str(server.make_url("/acct"))
        yield result


@asynccontextmanager
async def queue_of(connection: str) -> AsyncIterator[tuple[QueueClient, Accounts]]:
    accounts = Accounts({"Store": connection})
    try:
        yield (await accounts.queues("Store", "a test")).get_queue_client("jobs"), accounts
    finally:
        await accounts.close()


@asynccontextmanager
async def deleting(service: Service, clock: Clock | None = None) -> AsyncIterator[Deletion]:
    connection = f"AccountName=acct;AccountKey={KEY};QueueEndpoint={service.url}"
    async with queue_of(connection) as (queue, accounts):
        yield Deletion(queue, accounts.http, clock or Clock())


async def received(storage: Storage) -> QueueMessage:
    await storage.send("jobs", "a job")
    message = await storage.queues.get_queue_client("jobs").receive_message()
    assert message is not None
    return message


def by_key(account: Azurite) -> str:
    return account.connection_string


def by_signature(account: Azurite) -> str:
    signature = generate_account_sas(
        ACCOUNT,
        KEY,
        ResourceTypes(container=True, object=True),
        AccountSasPermissions(process=True),
        datetime.now(UTC) + timedelta(minutes=5),
    )
    return f"QueueEndpoint={account.queue_url};SharedAccessSignature={signature}"


@pytest.mark.parametrize("connection", [by_key, by_signature])
async def test_a_message_is_deleted_once_with_a_key_and_with_a_signature(
    storage: Storage, connection: Callable[[Azurite], str]
) -> None:
    message = await received(storage)

    async with queue_of(connection(storage.azurite)) as (queue, accounts):
        deletion = Deletion(queue, accounts.http)
        await deletion.delete(message.id, message.pop_receipt or "")
        with pytest.raises(ResourceNotFoundError):
            await deletion.delete(message.id, message.pop_receipt or "")


async def test_an_authorisation_that_has_expired_is_made_anew(storage: Storage) -> None:
    message = await received(storage)
    clock = Clock(NOW - timedelta(hours=2))

    async with queue_of(by_key(storage.azurite)) as (queue, accounts):
        deletion = Deletion(queue, accounts.http, clock)
        with pytest.raises(HttpResponseError, match="AuthenticationFailed"):
            await deletion.delete(message.id, message.pop_receipt or "")
        clock.now = NOW
        await deletion.delete(message.id, message.pop_receipt or "")


async def test_an_authorisation_is_made_anew_long_before_it_expires_and_used_until_then() -> None:
    clock = Clock()
    async with service() as storage, deleting(storage, clock) as deletion:
        for minutes in (0, 29, 31):
            clock.now = NOW + timedelta(minutes=minutes)
            await deletion.delete("id", "receipt")

    hour = timedelta(hours=1)
    assert storage.expiries() == [NOW + hour, NOW + hour, NOW + timedelta(minutes=31) + hour]


async def test_a_receipt_arrives_as_it_is() -> None:
    async with service() as storage, deleting(storage) as deletion:
        await deletion.delete("id", "A+b/c&d=%2B==")

    [request] = storage.requests
    assert (request.method, request.path) == ("DELETE", "/acct/jobs/messages/id")
    assert request.query["popreceipt"] == "A+b/c&d=%2B=="
    assert request.query["sp"] == "p"


@pytest.mark.parametrize("trouble", [500, 503, 429, CLOSE])
async def test_trouble_of_the_service_is_tried_again(trouble: int) -> None:
    async with service(trouble) as storage, deleting(storage) as deletion:
        await deletion.delete("id", "receipt")

    assert len(storage.requests) == 2


async def test_after_three_tries_the_message_is_left_to_come_again() -> None:
    async with service(500, 500, 500) as storage, deleting(storage) as deletion:
        with pytest.raises(HttpResponseError):
            await deletion.delete("id", "receipt")

    assert len(storage.requests) == 3


@pytest.mark.parametrize("trouble", [302, 400, 403, 404, None])
async def test_neither_an_error_nor_a_log_line_shows_the_authorisation(
    trouble: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.CRITICAL, "aiohttp.access")  # the service's own
    async with service(*filter(None, [trouble])) as storage:
        if trouble is None:
            storage.url = "http://127.0.0.1:9/acct"  # no one listens on the port of `discard`
        async with deleting(storage) as deletion:
            with pytest.raises(AzureError) as raised:
                await deletion.delete("id", "receipt")

    shown = "".join(traceback.format_exception(raised.value)) + repr(raised.value) + caplog.text
    assert "sig=" not in shown
    assert KEY not in shown
    assert len(storage.requests) == (0 if trouble is None else 1)
