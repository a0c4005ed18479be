"""An attempt to connect outlives its caller and serves the next one; so many are open at once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from shared.connections.connector import Connector
from shared.connections.session import session
from tests.unit.connections.held import HeldServer, Names

MANY = "https://localhost:{port}/"


async def text(http: aiohttp.ClientSession, url: str, **options: Any) -> str:
    async with http.get(url, **options) as answer:
        return await answer.text()


async def gives_up(http: aiohttp.ClientSession, server: HeldServer, url: str = "") -> None:
    """A request that is cancelled while it connects."""
    request = asyncio.create_task(text(http, url or server.url))
    await server.begun.wait()
    server.begun.clear()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request


async def settled(connector: Connector) -> None:
    """Attempts and their callbacks have ended."""
    if connector.attempts:
        await asyncio.wait(connector.attempts)
    await asyncio.sleep(0)


async def test_a_request_that_gave_up_leaves_its_connection_to_the_next_one(tmp_path: Path) -> None:
    server = HeldServer(tmp_path)
    connector = Connector(ssl=server.client_tls)
    async with server.running(), session(connector) as http:
        await gives_up(http, server)
        server.free.set()
        await settled(connector)

        assert await text(http, server.url) == "1"
    assert server.connections == 1


async def test_the_patience_for_a_connection_ends_the_wait_and_not_the_attempt(tmp_path: Path) -> None:
    server = HeldServer(tmp_path)
    connector = Connector(ssl=server.client_tls)
    async with server.running(), session(connector) as http:
        with pytest.raises(aiohttp.ConnectionTimeoutError):
            await text(http, server.url, timeout=aiohttp.ClientTimeout(sock_connect=0.01))
        server.free.set()

        assert await text(http, server.url) == "1"
    assert server.connections == 1


async def test_the_next_request_takes_over_an_attempt_that_goes_on(tmp_path: Path) -> None:
    server = HeldServer(tmp_path)
    async with server.running(), session(Connector(ssl=server.client_tls, stagger=60)) as http:
        await gives_up(http, server)
        second, third = (asyncio.create_task(text(http, server.url)) for _ in range(2))
        await server.begun.wait()  # there is one attempt to take over, and two who need one
        server.free.set()

        assert [await second, await third] == ["1", "1"]
    assert server.connections == 2


async def test_an_attempt_that_was_taken_over_and_hangs_is_joined_by_another(tmp_path: Path) -> None:
    server = HeldServer(tmp_path)
    async with server.running(), session(Connector(ssl=server.client_tls, stagger=0)) as http:
        await gives_up(http, server)
        second = asyncio.create_task(text(http, server.url))
        await server.begun.wait()
        server.free.set()

        assert await second == "1"
    assert server.connections == 2


async def test_the_first_of_several_addresses_that_answers_wins_and_the_other_is_kept(tmp_path: Path) -> None:
    slow, quick = HeldServer(tmp_path), HeldServer(tmp_path, held=False)
    connector = Connector(ssl=slow.client_tls, stagger=0, resolver=Names("127.0.0.1", "127.0.0.2"))
    async with slow.running(), quick.running("127.0.0.2", slow.port), session(connector) as http:
        assert await text(http, MANY.format(port=slow.port)) == "1"
        slow.free.set()
        await settled(connector)
        assert [slow.open, quick.open] == [1, 1]


async def test_an_address_that_refuses_costs_no_wait(tmp_path: Path) -> None:
    server = HeldServer(tmp_path, held=False)
    names = Names("127.0.0.1", "127.0.0.2")
    connector = Connector(ssl=server.client_tls, stagger=60, resolver=names)
    async with server.running("127.0.0.2"), session(connector) as http:
        assert await text(http, MANY.format(port=server.port)) == "1"


async def test_where_every_address_fails_the_error_is_that_of_the_first(unused_tcp_port: int) -> None:
    async with session(Connector(resolver=Names("127.0.0.1", "127.0.0.2"))) as http:
        with pytest.raises(aiohttp.ClientConnectorError) as refused:
            await text(http, f"http://localhost:{unused_tcp_port}/")
    assert isinstance(refused.value.os_error, ConnectionRefusedError)
    assert "127.0.0.1" in str(refused.value.os_error)


async def test_a_connection_that_comes_after_the_end_is_closed(tmp_path: Path) -> None:
    server = HeldServer(tmp_path)
    async with server.running():
        http = session(Connector(ssl=server.client_tls))
        await gives_up(http, server)
        closing = asyncio.create_task(http.close())
        await asyncio.sleep(0)
        server.free.set()
        await closing
        await server.closed.wait()
    assert server.open == 0


async def test_a_connection_without_its_certificates_check_is_never_kept(tmp_path: Path) -> None:
    server = HeldServer(tmp_path)
    connector = Connector(ssl=aiohttp.Fingerprint(bytes(32)))
    async with server.running(), session(connector) as http:
        await gives_up(http, server)
        server.free.set()
        await server.closed.wait()
        with pytest.raises(aiohttp.ServerFingerprintMismatch):
            await text(http, server.url)


async def test_so_many_attempts_go_on_without_a_caller_and_others_wait(tmp_path: Path) -> None:
    slow, quick = HeldServer(tmp_path), HeldServer(tmp_path, held=False)
    connector = Connector(ssl=slow.client_tls, most=1)
    async with slow.running(), quick.running(), session(connector) as http:
        await gives_up(http, slow)
        request = asyncio.create_task(text(http, quick.url))
        for _ in range(9):
            await asyncio.sleep(0)
        assert quick.connections == 0
        slow.free.set()

        assert await request == "1"


async def test_what_a_server_sends_on_an_idle_connection_is_no_answer() -> None:
    """Slurm's REST server answers some requests twice; the second answer is that of no request."""
    begun: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        begun.append(writer)
        while head := await reader.readuntil(b"\r\n\r\n"):
            writer.write(_answer(head.split(b" ")[1]))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, session() as http:
        assert await text(http, f"{url}/first") == "/first"
        begun[0].write(_answer(b"/first"))
        for _ in range(9):
            await asyncio.sleep(0)

        assert await text(http, f"{url}/second") == "/second"
        for writer in begun:
            writer.close()
    assert len(begun) == 2


def _answer(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
