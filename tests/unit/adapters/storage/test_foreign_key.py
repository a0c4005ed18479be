"""An archive that its uploader encrypted with a key of their own: storage lists it, and answers 409 for it.

As learn.microsoft.com/azure/storage/blobs/encryption-customer-provided-keys has it; Azurite does not have
such keys.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from aiohttp import web

from shared.adapters.storage.snapshots import BlobSnapshots
from shared.adapters.storage.wire.connection import Account, Connection
from shared.core.caller import KEY_HOLDER
from shared.core.ports import Ports
from shared.intake.code_door import store
from shared.intake.request_door import request_validated
from tests.doubles.server import answering
from tests.unit.intake.desk.doors import read
from tests.unit.world import World, job_json

DATA = b"the bytes of an archive"
DIGEST = hashlib.sha256(DATA).hexdigest()
NAME = f"all/{DIGEST}"
_LIST = """<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs><Blob><Name>{name}</Name>
<Properties><Last-Modified>Fri, 20 Nov 2026 10:00:00 GMT</Last-Modified><Etag>0x1</Etag>
<Content-Length>23</Content-Length><BlobType>BlockBlob</BlobType>
<CustomerProvidedKeySha256>a2V5</CustomerProvidedKeySha256></Properties></Blob></Blobs></EnumerationResults>"""


class Storage:
    """A container with this one blob."""

    def __init__(self) -> None:
        self.data: bytes | None = None  # None: encrypted with a key that is not here
        self.is_there = True

    async def answer(self, request: web.Request) -> web.Response:
        """As the service answers."""
        response = await self._answer(request)
        response.headers["x-ms-request-id"] = "1"
        return response

    async def _answer(self, request: web.Request) -> web.Response:
        if "comp" in request.query and request.query["comp"] == "list":
            return web.Response(text=_LIST.format(name=NAME) if self.is_there else _LIST.format(name="x"))
        if request.query.get("restype") == "container":
            return web.Response(status=201)
        assert request.path == f"/acct/snapshots/{NAME}"
        if request.method == "DELETE":
            assert request.headers["If-Match"] == '"0x1"'
            self.is_there = False
            return web.Response(status=202)
        if request.method == "PUT" and request.headers.get("If-None-Match") == "*":
            if self.is_there:
                return web.Response(status=409, headers={"x-ms-error-code": "BlobAlreadyExists"})
            self.is_there, self.data = True, await request.read()
            return web.Response(status=201)
        if not self.is_there:
            return web.Response(status=404, headers={"x-ms-error-code": "BlobNotFound"})
        if self.data is None:
            return web.Response(
                status=409, headers={"x-ms-error-code": "BlobUsesCustomerSpecifiedEncryption"}
            )
        headers = {"Last-Modified": "Fri, 20 Nov 2026 10:00:00 GMT", "ETag": '"0x2"'}
        return web.Response(body=self.data, headers=headers)


async def test_it_is_as_if_it_were_not_there_and_makes_room_for_the_archive(world: World) -> None:
    storage = Storage()

    async with answering(storage.answer) as url:
        account, ports = using(world, url)
        try:
            stored = await ports.snapshots.find(NAME)
            request = read(ports, {"spec": job_json(), "code": {"sha256": DIGEST}})
            judged = await request_validated(ports, request)
            is_new = await store(ports, DIGEST, DATA, KEY_HOLDER)
            listed = [one.is_readable async for one in ports.snapshots.listed()]
        finally:
            await account.close()

    assert stored is not None
    assert (stored.etag, stored.is_readable) == ("0x1", False)
    (problem,) = [one for one in judged.problems if one.code == "SW116"]
    assert problem.remedy == "send the code again, then the same request"
    assert (is_new, storage.data, listed) == (True, DATA, [False])


def using(world: World, url: str) -> tuple[Account, Ports]:
    """The ports of a world, with the archives in this storage."""
    connection = Connection(
        f"DefaultEndpointsProtocol=http;AccountName=acct;AccountKey=a2V5;BlobEndpoint={url}/acct"
    )
    account = Account(connection)
    world.use(snapshots=BlobSnapshots(account, connection, "snapshots", lambda: datetime.now(UTC)))
    return account, world.ports
