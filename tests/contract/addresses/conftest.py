"""An Azurite account that the app reaches with its key, and one that it reaches by HTTPS with an identity."""

from __future__ import annotations

import ssl
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import jwt
import pytest
import pytest_asyncio
from azure.core.credentials import AccessToken
from azure.core.pipeline.transport import AioHttpTransport
from azure.storage.blob.aio import ContainerClient

from local.azurite import Azurite, azurite
from local.batchai.https.certificate import certificate
from shared.adapters.storage.addresses import BlobAddresses
from shared.adapters.storage.snapshots import BlobSnapshots
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.rest import Connections
from shared.adapters.storage.wire.sign import Identity
from shared.core.ports import BlobFolder

VALID = timedelta(minutes=5)
TOP = "acct/jobs/a-1"


@dataclass
class Clock:
    """The clock of the ports, as wiring gives it; `ahead` of the right time."""

    ahead: timedelta = timedelta(0)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@dataclass
class Stored:
    """A container, the ports over its account, and a client without a key."""

    container: ContainerClient
    addresses: BlobAddresses
    snapshots: BlobSnapshots
    clock: Clock
    http: aiohttp.ClientSession

    def another(self) -> BlobSnapshots:
        """The archives, as another process has them."""
        snapshots = self.snapshots
        return BlobSnapshots(snapshots._account, snapshots._connection, snapshots._container, self.clock)

    def folder(self, path: str = TOP) -> BlobFolder:
        return BlobFolder(self.container.container_name, path)

    async def put(self, name: str, body: bytes = b"x", **metadata: str) -> None:
        await self.container.upload_blob(f"{TOP}/{name}", body, metadata=metadata, overwrite=True)


class _Token:
    """An identity's token in the form that Azurite requires; Azurite does not verify its signature."""

    async def get_token(self, *_: Any, **__: Any) -> AccessToken:
        now = int(time.time())
        claims = {
            "aud": "https://storage.azure.com",
            "iss": "https://sts.windows.net/ab1f708d-50f6-404c-a006-d71b2ac7a606/",
            "iat": now,
            "nbf": now - 60,
            "exp": now + 3600,
            "oid": "23657296-5cd5-45b0-a809-d972a7f4dfe1",
            "tid": "dd0d0df1-06c3-436c-8034-4b9a153097ce",
        }
        return AccessToken(jwt.encode(claims, "k" * 32), now + 3600)

    async def close(self) -> None:
        """Nothing to close."""


@asynccontextmanager
async def opened(connection: Connection, tls: ssl.SSLContext | None = None) -> AsyncIterator[Stored]:
    def transport() -> AioHttpTransport:
        return AioHttpTransport(
            session=aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=tls or True))
        )

    trusting = Connections()
    trusting._session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=tls or True), skip_auto_headers=("Content-Type",)
    )
    account = Account(connection, transport, around=lambda _: trusting.send)
    if isinstance(account._signer, Identity):
        account._signer._credential = _Token()
    name = f"d{uuid.uuid4().hex[:12]}"
    await account.blobs.create_container(name)
    container = account.blobs.get_container_client(name)
    clock = Clock()
    addresses = BlobAddresses(account, connection, VALID, clock)
    snapshots = BlobSnapshots(account, connection, f"s{name}", clock)
    try:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=tls or True)) as http:
            yield Stored(container, addresses, snapshots, clock, http)
    finally:
        await account.close()
        await trusting.close()


@dataclass
class Secure:
    """An Azurite with HTTPS, and the certificate to trust."""

    storage: Azurite
    tls: ssl.SSLContext


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def secure(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Secure]:
    own = certificate(tmp_path_factory.mktemp("certificate"))
    async with azurite(certificate=own) as running:
        yield Secure(running, ssl.create_default_context(cafile=own))


@asynccontextmanager
async def account_by(kind: str, storage: Azurite, secure: Secure) -> AsyncIterator[Stored]:
    """An account that the app reaches by `key` or by `identity`."""
    with_key = kind == "key"
    at = secure.storage
    urls = Connection("", at.blob_url, at.queue_url, at.table_url)
    connection = Connection(storage.connection_string) if with_key else urls
    async with opened(connection, None if with_key else secure.tls) as opened_account:
        yield opened_account


@pytest_asyncio.fixture(loop_scope="session", params=["key", "identity"])
async def stored(request: pytest.FixtureRequest, storage: Azurite, secure: Secure) -> AsyncIterator[Stored]:
    async with account_by(request.param, storage, secure) as account:
        yield account
