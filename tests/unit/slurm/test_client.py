"""The connection to slurmrestd, and how a dialect is agreed on with one whose answers are not always HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from shared.engines.slurm.client import SlurmClient
from shared.engines.slurm.cluster import SlurmCluster
from shared.errors import Transient

#: As slurmrestd 26.05 answers a path that it does not know: two responses to one request.
GARBLED = (
    b"HTTP/1.1 404 NOT FOUND\r\nConnection: Close\r\nContent-Length: 4\r\n\r\n"
    b"noneHTTP/1.1 404 NOT FOUND\r\n\r\n"
)
FINE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@asynccontextmanager
async def served(known: str) -> AsyncIterator[SlurmClient]:
    """A client of a server that knows one dialect."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        writer.write(FINE if known.encode() in asked else GARBLED)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    client = SlurmClient(SlurmCluster("gpu", url=url, user="u", shared="/shared"), b"k" * 32)
    try:
        yield client
    finally:
        await client.close()
        server.close()


async def test_a_dialect_whose_refusal_cannot_be_read_is_passed_over() -> None:
    async with served("v0.0.44") as client:
        assert (await client.agree()).version == "v0.0.44"


async def test_a_server_that_speaks_no_http_at_all_may_speak_it_later() -> None:
    async with served("nothing") as client:
        with pytest.raises(Transient, match="no HTTP"):
            await client.agree()
