"""A ranged read of a job's file: what something else answers in the server's place is not the file."""

from __future__ import annotations

import pytest
from aiohttp import web

from shared.core.engine import FileChunk
from shared.core.errors import Transient
from shared.engines.batchai.download import Downloads, Refused
from tests.doubles.server import answering

PAGE = "<html><h1>Sign in to the network</h1></html>"


async def read(status: int, kind: str, **headers: str) -> FileChunk:
    async def answer(request: web.Request) -> web.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, text=PAGE, content_type=kind, headers=named)

    downloads = Downloads()
    async with answering(answer) as url:
        try:
            return await downloads.read(url, 0, 1000)
        finally:
            await downloads.close()


@pytest.mark.parametrize("status", [200, 206, 302, 403, 404, 416, 502])
async def test_a_page_in_place_of_the_file_is_asked_for_again(status: int) -> None:
    with pytest.raises(Transient, match=f"something between here and the file's server answered {status}"):
        await read(status, "text/html")


async def test_a_file_that_is_a_page_is_read() -> None:
    assert (await read(200, "text/html", x_ms_request_id="r")).data == PAGE.encode()
    assert (await read(206, "application/octet-stream")).data == PAGE.encode()


@pytest.mark.parametrize("status", [403, 404])
async def test_an_address_that_the_server_refuses_is_not_there(status: int) -> None:
    with pytest.raises(Refused):
        await read(status, "application/xml", x_ms_error_code="ResourceNotFound")
    with pytest.raises(Refused):
        await read(status, "text/plain")
