"""A storage server on loopback, and a service that provides addresses there."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.contract.addresses.direct.blobs import FILES, Storage
from tests.unit.slipway.client.wrote import Wrote


@pytest_asyncio.fixture(loop_scope="session")
async def storage() -> AsyncIterator[Storage]:
    stored = Storage(dict(FILES))
    app = web.Application()
    app.router.add_get("/{name:.*}", stored.serve)
    async with TestServer(app, host="127.0.0.1") as server:
        stored.url = str(server.make_url("")).rstrip("/")
        yield stored


@pytest.fixture
def api(storage: Storage) -> Wrote:
    wrote = Wrote(FILES)
    wrote.pages = {(".", ""): storage.page(*FILES)}
    return wrote
