"""What the code of a job costs: `slipway run` of a folder of many small files, beside `slipway data put`.

Each is a command of its own, from its start until its job has ended, or until all files are stored; one job
before them makes the node warm. The client's requests are counted until its job is accepted, by a proxy
before the app, and its upload; those of the node for the archive by the access log of the storage.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from aiohttp import web

from bench.download import make_container
from bench.world import QUIET, ROOT, World, disk, free_ports, world
from slipway.stack.provision import Plan

_SETTINGS = {**QUIET, "SLIPWAY_SWEEPER_SCHEDULE": "* * * * * *"}
_SCRIPT = "from pathlib import Path\nprint(len(list(Path('data').iterdir())))\n"
_BYTES = 1000
#: Nodes mount another one, and would copy what is put there before their next job.
_CONTAINER = "datalake-bench"
#: Each round begins with another of them.
_TURNS = itertools.count()


@dataclass
class _Proxy:
    """Passes requests on to the app, and counts those of a client until its job is accepted."""

    app: str
    http: aiohttp.ClientSession
    requests: int = 0
    is_accepted: bool = field(default=False, repr=False)

    async def pass_on(self, request: web.Request) -> web.Response:
        if not self.is_accepted:
            self.requests += 1
        headers = {name: text for name, text in request.headers.items() if name.lower() != "host"}
        place, body = f"{self.app}{request.path_qs}", await request.read()
        async with self.http.request(request.method, place, data=body, headers=headers) as answer:
            text = await answer.read()
            # The address that takes an archive is asked once.
            self.requests += request.path == "/api/snapshots" and b'"upload"' in text
            self.is_accepted = self.is_accepted or (request.method, request.path) == ("POST", "/api/jobs")
            hop = ("transfer-encoding", "content-length", "content-encoding", "connection")
            headers = {name: one for name, one in answer.headers.items() if name.lower() not in hop}
            return web.Response(body=text, status=answer.status, headers=headers)


@dataclass(frozen=True)
class _Bench:
    """A running stack with a warm node, and the folder of the commands."""

    stack: World
    proxy: _Proxy
    url: str
    folder: Path

    async def command(self, *words: str) -> float:
        """Seconds of a command. Raises RuntimeError with its output if it fails."""
        storage = {"SLIPWAY_STORAGE": self.stack.storage, "HOME": str(self.folder)}
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "slipway.main", *words),
            env={**os.environ, **storage, "PYTHONPATH": str(ROOT)},
            cwd=self.folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        if process.returncode:
            raise RuntimeError(f"slipway {' '.join(words)}: {output.decode()[-500:]}")
        return time.perf_counter() - began

    async def run(self, folder: Path, name: str) -> dict[str, float]:
        """One `slipway run`: its seconds, the client's requests until it is accepted, those of the node."""
        before = Counter(self.stack.requests.lines)
        self.proxy.requests, self.proxy.is_accepted = 0, False
        to = self.folder / uuid.uuid4().hex
        seconds = await self.command("run", "--url", self.url, "--to", str(to), str(folder))
        lines = self.stack.requests.lines_since(before)
        of_node = sum(n for line, n in lines.items() if line.startswith("GET snapshots/"))
        return {f"{name} s": seconds, f"{name} client requests": self.proxy.requests} | {
            f"{name} node requests": of_node
        }


async def code(files: int) -> dict[str, float]:
    """Measure each, in turns, with so many files."""
    async with _warm() as bench:
        one, many = bench.folder / "one", bench.folder / "many"
        _write(one, 1)
        _write(many, files)

        async def run_one() -> dict[str, float]:
            _write(one, 1)
            return await bench.run(one, "run of 1 file")

        async def run_many() -> dict[str, float]:
            _write(many, files)
            changed = await bench.run(many, "run of many files, new")
            return changed | await bench.run(many, "run of many files, known")

        async def put() -> dict[str, float]:
            folder = bench.folder / uuid.uuid4().hex
            _write(folder, files)
            words = ("data", "put", "--container", _CONTAINER, str(folder))
            return {"data put of as many s": await bench.command(*words)}

        ways: list[Callable[[], Awaitable[dict[str, float]]]] = [run_one, run_many, put]
        first, figures = next(_TURNS) % len(ways), dict[str, float]()
        for way in ways[first:] + ways[:first]:
            figures |= await way()
    return {f"code, {name}": figure for name, figure in figures.items()}


@asynccontextmanager
async def _warm() -> AsyncIterator[_Bench]:
    async with world(noop=False, settings=_SETTINGS, plan=Plan(minimum=1, maximum=1)) as stack:
        with tempfile.TemporaryDirectory(prefix="slipway-bench-", dir=disk()) as folder:
            async with _proxied(stack.running.host_url) as (proxy, url):
                bench = _Bench(stack, proxy, url, Path(folder))
                await make_container(stack.storage, _CONTAINER)
                _write(bench.folder / "first", 1)
                await bench.run(bench.folder / "first", "first")
                yield bench


@asynccontextmanager
async def _proxied(app: str) -> AsyncIterator[tuple[_Proxy, str]]:
    """A proxy before the app, and its address."""
    (port,) = free_ports(1)
    async with aiohttp.ClientSession(auto_decompress=False) as http:
        proxy = _Proxy(app, http)
        server = web.Application(client_max_size=1 << 26)
        server.router.add_route("*", "/{path:.*}", proxy.pass_on)
        runner = web.AppRunner(server)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        try:
            yield proxy, f"http://127.0.0.1:{port}"
        finally:
            await runner.cleanup()


def _write(folder: Path, files: int) -> None:
    """A script that counts so many files of 1 kB, which are new ones."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "train.py").write_text(_SCRIPT)
    for number in range(files):
        (folder / "data" / f"part-{number:05d}.txt").write_text((uuid.uuid4().hex * 32)[:_BYTES])
