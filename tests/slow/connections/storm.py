"""`python -m tests.slow.connections.storm ours [tls]`: requests that give up while they connect, on uvloop.

Each answer carries the number of its request. Prints how the requests ended, as JSON. With `plain` in place
of `ours` aiohttp connects by itself, and uvloop 0.21.0 and 0.22.1 abort the process.
"""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp

from local.batchai.https.certificate import certificate, server_context
from shared.connections.connector import Connector

_REQUESTS, _AT_ONCE = 4000, 16
#: Seconds: the shortest and the longest patience of a request, and the longest pause of the server.
_SHORT, _LONG, _PAUSE = 0.0005, 0.010, 0.002
#: A handshake takes so many times as long; there are fewer of them.
_TLS, _HANDSHAKES = 3, 1500


class _Echo(asyncio.Protocol):
    """Answers each request with its path."""

    def connection_made(self, transport: Any) -> None:
        self._transport, self._bytes = transport, b""

    def data_received(self, data: bytes) -> None:
        *heads, self._bytes = (self._bytes + data).split(b"\r\n\r\n")
        for head in heads:
            number = head.split(b" ", 2)[1].strip(b"/")
            length = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(number)
            self._transport.write(length + number)


async def serve(file: str) -> None:
    """Accept slowly, until the standard input ends. `file`: of a certificate; "" for a server without TLS."""
    loop = asyncio.get_running_loop()
    tls = server_context(Path(file)) if file else None
    server = await loop.create_server(_Echo, "127.0.0.1", 0, backlog=1000, ssl=tls)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    end = loop.run_in_executor(None, sys.stdin.read)
    while not end.done():
        await asyncio.sleep(random.uniform(0, _PAUSE))
        time.sleep(random.uniform(0, _PAUSE))  # noqa: ASYNC251 - it accepts nothing meanwhile


async def storm(connector: aiohttp.TCPConnector, url: str) -> Counter[str]:
    """How the requests ended."""
    tls = url.startswith("https:")
    ends: Counter[str] = Counter()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: ends.update([f"unseen: {context['message']}"]))
    numbers, times = iter(range(_HANDSHAKES if tls else _REQUESTS)), _TLS if tls else 1

    async def request(http: aiohttp.ClientSession, number: int) -> str:
        patience = random.uniform(_SHORT, _LONG) * times
        timeout = aiohttp.ClientTimeout(total=patience if number % 2 else 1.0, sock_connect=patience)
        headers = {"Connection": "close"} if random.random() < 0.5 else {}
        try:
            async with http.get(f"{url}/{number}", headers=headers, timeout=timeout) as answer:
                return "right" if await answer.text() == str(number) else "wrong"
        except TimeoutError:
            return "late"
        except Exception as error:  # noqa: BLE001 - what is not expected is printed
            return f"failed: {error!r}"

    async def requests(http: aiohttp.ClientSession) -> None:
        for number in numbers:
            ends[await request(http, number)] += 1

    async with aiohttp.ClientSession(connector=connector) as http:
        await asyncio.gather(*(requests(http) for _ in range(_AT_ONCE)))
    return ends


def main(who: str, *options: str) -> None:
    """Start the server, send the requests, and print how they ended."""
    import uvloop

    with tempfile.TemporaryDirectory() as folder:
        file = str(certificate(Path(folder))) if "tls" in options else ""
        command = [sys.executable, "-m", __spec__.name, "serve", file]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            url = f"{'https' if file else 'http'}://127.0.0.1:{int(server.stdout.readline())}"
            kind = Connector if who == "ours" else aiohttp.TCPConnector
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                sys.stdout.write(f"{json.dumps(runner.run(_storm(kind, url, file)))}\n")
            server.stdin.close()


async def _storm(kind: type[aiohttp.TCPConnector], url: str, file: str) -> Counter[str]:
    tls = ssl.create_default_context(cafile=file) if file else True
    return await storm(kind(limit=64, keepalive_timeout=4, ssl=tls), url)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(serve(sys.argv[2]))
    else:
        main(*sys.argv[1:])
