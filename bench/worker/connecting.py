"""`python -m bench.worker.connecting`: processor time of a request, by connector and by event loop.

aiohttp's own connector and the app's, on asyncio's loop (the worker of Python 3.12) and on uvloop (that of
3.13), over connections that are kept and over new ones. The order changes in each round, and shown is the
least of all: what else runs on the machine can only add. The server is a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import product
from typing import Any

import aiohttp
import uvloop

from shared.connections.connector import Connector

_AT_ONCE = 16
_WARM = 50
_LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}
_CONNECTORS: dict[str, type[aiohttp.TCPConnector]] = {"aiohttp's": aiohttp.TCPConnector, "ours": Connector}


class _Answering(asyncio.Protocol):
    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n" + bytes(200)
        self._transport.write(answer * data.count(b"\r\n\r\n"))


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Answering, "127.0.0.1", 0, backlog=1000)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)


async def _measure(kind: type[aiohttp.TCPConnector], url: str, number: int, *, keeps: bool) -> float:
    """Microseconds of processor time a request."""
    connector = kind(limit=64, force_close=not keeps)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as http:

        async def requests(numbers: Any) -> None:
            for _ in numbers:
                async with http.get(url) as answer:
                    await answer.read()

        async def all_requests(many: int) -> None:
            numbers = iter(range(many))
            await asyncio.gather(*(requests(numbers) for _ in range(_AT_ONCE)))

        await all_requests(_WARM)
        before = time.process_time()
        await all_requests(number)
        return (time.process_time() - before) * 1e6 / number


def main() -> None:
    """Measure every way in each round, and print the least time of each."""
    parser = argparse.ArgumentParser(prog="python -m bench.worker.connecting", description=__doc__)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    command = [sys.executable, "-m", "bench.worker.connecting", "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/"
        times = _rounds(url, options.rounds, options.requests)
        server.stdin.close()
    sys.stdout.write("| loop | connector | kept connection, µs | new connection, µs |\n|---|---|---|---|\n")
    for loop, connector in product(_LOOPS, _CONNECTORS):
        old, new = (min(times[loop, connector, keeps]) for keeps in (True, False))
        sys.stdout.write(f"| {loop} | {connector} | {old:.0f} | {new:.0f} |\n")


def _rounds(url: str, rounds: int, number: int) -> dict[tuple[str, str, bool], list[float]]:
    times: dict[tuple[str, str, bool], list[float]] = defaultdict(list)
    ways = list(product(_LOOPS, _CONNECTORS, (True, False)))
    for _ in range(rounds):
        random.shuffle(ways)
        for loop, connector, keeps in ways:
            with asyncio.Runner(loop_factory=_LOOPS[loop]) as runner:
                took = runner.run(_measure(_CONNECTORS[connector], url, number, keeps=keeps))
            times[loop, connector, keeps].append(took)
    return times


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(_serve())
    else:
        main()
