"""Sessions take answers to which a gateway on the way added its headers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from shared.answers.mark import MARK, MARKED
from shared.connections.session import session
from slipway.client.service import service
from tests.unusual_answers import UNUSUAL, answer

#: What gateways add; what else is unusual may change where a body ends, and stays refused.
LONG = ["a field of 9000 bytes", "150 fields", "a field name of 9000 bytes"]


@asynccontextmanager
async def gateway(data: bytes) -> AsyncIterator[str]:
    """A server that answers each request with these bytes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(data)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize("name", LONG)
async def test_a_session_of_the_app_reads_it(name: str) -> None:
    async with gateway(answer(200, UNUSUAL[name])) as url, session() as http, http.get(url) as read:
        assert read.status == 200


@pytest.mark.parametrize("name", LONG)
async def test_the_command_reads_it(name: str) -> None:
    fields, _ = UNUSUAL[name]
    body = b'{"id": "j_1"}'
    mark = f"{MARK}: {MARKED}\r\n".encode()
    length = mark + b"Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body)
    long = fields.replace(b"Content-Length: 0\r\n", length)
    async with gateway(answer(200, (long, body))) as url, service(url, "key") as deployment:
        assert dict(await deployment.job("j_1")) == {"id": "j_1"}


async def test_a_head_without_an_end_is_refused() -> None:
    data = b"HTTP/1.1 200 OK\r\nX: " + b"x" * 1_000_000
    async with gateway(data) as url, session() as http:
        with pytest.raises(aiohttp.ClientError):
            await http.get(url)
