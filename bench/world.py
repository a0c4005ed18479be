"""What every measurement stands on: the local stack on disk, a round trip before it, a count of requests.

The storage is Azurite on a disk in memory (its own memory mode freezes for seconds), behind a proxy when a
round trip is wanted. The counts of Azurite's access log are exact under any load of the machine.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from bench.cost.money import LEASE
from bench.rest import Raw
from bench.verified import Verified
from local.process import child
from local.stack import Options, Ports, Stack, stack
from shared.settings import Settings
from slipway.stack.provision import Plan, provision

ROOT = Path(__file__).resolve().parents[1]
_APP = ROOT / "bench" / "app"
_LINE = re.compile(r'"(?P<verb>[A-Z]+) /devstoreaccount1/(?P<path>\S*) HTTP')
_PATIENCE = 120.0
#: The container that the cluster's nodes mount: what they ask of it is not the dispatcher's.
_NODES = "datalake"
#: The file of the times of submissions, beside that of deliveries.
_SUBMITTED = "submitted"
#: Timers and scans out of the way: they are measured on their own.
QUIET = {
    "SLIPWAY_SWEEPER_SCHEDULE": "0 * * * * *",
    "SLIPWAY_INVENTORY_SECONDS": "0",
    "SLIPWAY_DEFAULT_NOTIFY": "[]",
    "SLIPWAY_RECEIPTS": "drops",
}
_EIGHT = Plan(minimum=8, maximum=8)


@dataclass
class Requests:
    """The storage's access log, as counts of verb and place; read when asked for, not while it is written."""

    _counted: Counter[str] = field(default_factory=Counter)
    _unread: list[str] = field(default_factory=list)

    def take(self, line: str) -> None:
        """One line of the log."""
        self._unread.append(line)

    @property
    def lines(self) -> Counter[str]:
        """How often each was asked for."""
        for line in self._unread:
            match = _LINE.search(line)
            if match and not match["path"].startswith(_NODES):
                path, _, query = match["path"].partition("?")
                self._counted[f"{match['verb']} {path}{LEASE if LEASE[1:] in query else ''}"] += 1
        self._unread.clear()
        return self._counted

    def lines_since(self, before: Counter[str]) -> Counter[str]:
        """What came after a copy of `lines` was taken."""
        return Counter({name: n - before[name] for name, n in self.lines.items() if n > before[name]})


def polls(counts: Mapping[str, int]) -> int:
    """How many of the requests asked a queue for messages."""
    return sum(n for name, n in counts.items() if name.startswith("GET ") and name.endswith("/messages"))


@dataclass(frozen=True, kw_only=True)
class World:
    """A running stack, what was asked of its storage, and the worker whose time counts."""

    running: Stack
    requests: Requests
    #: the storage as the app and its client reach it
    storage: str
    host: psutil.Process
    worker: psutil.Process
    verified: Verified

    def arrivals(self) -> list[dict[str, Any]]:
        """Every webhook that the receiver has written down."""
        return [json.loads(line) for line in self.running.deliveries.read_text().splitlines()]

    def submissions(self) -> list[float]:
        """The times of all submissions to the engine without work."""
        file = self.running.deliveries.with_name(_SUBMITTED)
        return [float(line) for line in file.read_text().split("\n")[:-1]] if file.exists() else []

    async def submitted(self, number: int) -> float:
        """Wait for that many submissions to the engine without work; the time of the last one."""
        until = time.perf_counter() + _PATIENCE
        while len(times := self.submissions()) < number:
            if time.perf_counter() > until:
                raise TimeoutError(f"{len(times)} of {number} jobs were submitted; see {self.running.logs}")
            await asyncio.sleep(0.0005)
        return times[number - 1]

    async def wait_for_webhooks(self, number: int, every: float = 0.0005) -> float:
        """Wait for that many verified webhooks; the moment of the last one, by `time.perf_counter`."""
        until = time.perf_counter() + _PATIENCE
        while (arrivals := self.verified.count()) < number:
            if time.perf_counter() > until:
                raise TimeoutError(f"{arrivals} of {number} webhooks came; see {self.running.logs}")
            await asyncio.sleep(every)
        return time.perf_counter()


@asynccontextmanager
async def world(
    *,
    noop: bool,
    rtt: float = 0.0,
    poll: float | None = None,
    settings: Mapping[str, str] = QUIET,
    plan: Plan = _EIGHT,
    first: bytes | None = None,
    queues: Mapping[str, Any] | None = None,
) -> AsyncIterator[World]:
    """The stack with the real host and one worker. `rtt` in milliseconds stands before the storage.

    `poll`: seconds after which the host asks an empty queue again, instead of backing off to host.json's two.
    `first`: a message that is there when the host starts. `queues`: instead of values of host.json.
    """
    changed = dict(queues or {})
    if poll is not None:
        changed["maxPollingInterval"] = f"00:00:{poll:06.3f}"
    requests = Requests()
    async with AsyncExitStack() as opened:
        data = Path(tempfile.mkdtemp(prefix="slipway-bench-", dir=disk()))
        opened.callback(shutil.rmtree, data, ignore_errors=True)
        direct = free_ports(3)
        shown = await opened.enter_async_context(proxies(direct, rtt)) if rtt else direct
        storage = connection_string(shown)
        app = _app(data / "app", changed) if noop or changed else ROOT
        overrides = {
            **settings,
            **_connected(storage),
            "BENCH_NOOP": "yes" if noop else "",
            "BENCH_SUBMITTED": str(data / _SUBMITTED) if poll else "",
        }
        options = _options(data, direct, app, requests, overrides)
        provisioned = partial(_provisioned, plan, storage, first)
        running = await opened.enter_async_context(stack(options, provisioned))
        host = psutil.Process(running.processes[-1].pid)
        (worker,) = host.children()
        yield World(
            running=running,
            requests=requests,
            storage=storage,
            host=host,
            worker=worker,
            verified=Verified(running.deliveries),
        )


async def _provisioned(plan: Plan, storage: str, first: bytes | None, settings: Mapping[str, str]) -> None:
    """Create the resources of an app with these settings, and put the first message into its queue."""
    async for _ in provision(Settings(settings), plan):
        pass
    if first is not None:
        async with Raw(storage) as client:
            await client.put("jobs", first)


def _options(
    data: Path, ports: list[int], app: Path, requests: Requests, settings: Mapping[str, str]
) -> Options:
    """A stack whose nodes come and go at once, and whose storage says what it is asked."""
    return Options(
        data=data,
        ports=Ports(azurite=(ports[0], ports[1], ports[2])),
        app=app,
        on_request=requests.take,
        overrides=settings,
        cluster_arguments=("--provisioning-seconds=0", "--leaving-seconds=0"),
    )


def _connected(storage: str) -> dict[str, str]:
    """The settings of an app and a host on that storage."""
    return {"SLIPWAY_STORAGE": storage, "AzureWebJobsStorage": storage, "BENCH_ROOT": str(ROOT)}


def _app(folder: Path, queues: Mapping[str, Any]) -> Path:
    shutil.copytree(_APP, folder)
    host = json.loads((ROOT / "host.json").read_text())
    host["extensions"]["queues"].update(queues)
    (folder / "host.json").write_text(json.dumps(host))
    return folder


@asynccontextmanager
async def proxies(ports: list[int], rtt: float) -> AsyncIterator[list[int]]:
    """A proxy of its own process before each port; yields where they listen."""
    argv = [sys.executable, "-m", "bench.proxy", str(rtt), *map(str, ports)]
    async with child(argv, name="the proxy", cwd=ROOT) as running:
        ready = await running.line(r"^ready (.+)$")
        yield [int(port) for port in ready[1].split()]


def connection_string(ports: list[int]) -> str:
    """The emulator's account behind these ports: blob, queue, table."""
    from local.azurite import ACCOUNT, KEY

    endpoints = ";".join(
        f"{service}Endpoint=http://127.0.0.1:{port}/{ACCOUNT}"
        for service, port in zip(("Blob", "Queue", "Table"), ports, strict=True)
    )
    return f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};{endpoints};"


def free_ports(number: int) -> list[int]:
    """Ports without a listener now."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [int(each.getsockname()[1]) for each in sockets]


def cpu(process: psutil.Process) -> float:
    """Seconds of processor time of a process and of all that it started and has waited for."""
    spent = process.cpu_times()
    return float(spent.user + spent.system + spent.children_user + spent.children_system)


def cpu_of_all(*processes: psutil.Process) -> float:
    """The same with all that they started and that still runs."""
    return sum(cpu(each) for one in processes for each in (one, *one.children(recursive=True)))


def disk() -> str | None:
    """Where files are in memory, if there is such a place."""
    memory = Path("/dev/shm")  # noqa: S108 - a private folder is made in it
    return str(memory) if memory.is_dir() else None
