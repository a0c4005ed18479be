"""A peer with the same guarantees: Celery, with late acknowledgement and results, over Redis with a log.

Needs `redis-server` (Debian: redis-server) and the packages of the group `bench`; skipped aloud without them.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import psutil

from bench.job import SPEC
from bench.verified import Verified
from bench.world import ROOT, cpu_of_all, free_ports, proxies
from local.process import child

_SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
_WARM = 20
_PROCESSES = 4


def why_not_installed() -> str:
    """What is not installed; "" when all is there."""
    if not shutil.which("redis-server"):
        return "redis-server is not installed (Debian: apt-get install redis-server)"
    return "" if find_spec("celery") else "celery is not installed: python -m local.setup.groups bench"


async def celery(number: int, *, rtt: float = 0.0, command: str = "") -> dict[str, float]:
    """Jobs a second and the worker's processor milliseconds a job."""
    name = "Celery" + (f" {Path(command).name}" if command else "") + (" with RTT" if rtt else "")
    async with _peer(rtt) as (redis, hook, verified, worker):
        from celery import Celery

        app = Celery("sender", broker=redis, backend=redis)

        def send(count: int) -> None:
            for _ in range(count):
                app.send_task("bench.celery.peer_tasks.run", (SPEC, hook, command))

        await asyncio.to_thread(send, _WARM)
        await _wait_for_webhooks(verified, _WARM)
        spent = cpu_of_all(worker)
        start = time.perf_counter()
        sending = asyncio.create_task(asyncio.to_thread(send, number))
        end = await _wait_for_webhooks(verified, _WARM + number)
        await sending
        return {
            f"{name} jobs/s": number / (end - start),
            f"{name} worker CPU ms/job": (cpu_of_all(worker) - spent) * 1000 / number,
        }


async def idle(seconds: float) -> dict[str, float]:
    """Processor milliseconds of a worker that waits for a minute; nothing where there is none."""
    if why_not_installed():
        return {}
    async with _peer(0.0) as (_, _, _, worker):
        spent = cpu_of_all(worker)
        await asyncio.sleep(seconds)
        return {"idle Celery CPU ms/min": (cpu_of_all(worker) - spent) * 1000 * 60 / seconds}


async def _wait_for_webhooks(verified: Verified, number: int) -> float:
    until = time.perf_counter() + 120
    while verified.count() < number:
        if time.perf_counter() > until:
            raise TimeoutError(f"Celery sent fewer than {number} webhooks")
        await asyncio.sleep(0.005)
    return time.perf_counter()


@asynccontextmanager
async def _peer(rtt: float) -> AsyncIterator[tuple[str, str, Verified, psutil.Process]]:
    async with AsyncExitStack() as opened:
        data = Path(tempfile.mkdtemp(prefix="slipway-bench-"))
        opened.callback(shutil.rmtree, data, ignore_errors=True)
        (port,) = free_ports(1)
        redis = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", str(data)]
        redis += ["--appendonly", "yes", "--save", ""]
        server = await opened.enter_async_context(child(redis, name="Redis"))
        await server.line("Ready to accept connections")
        (shown,) = await opened.enter_async_context(proxies([port], rtt)) if rtt else (port,)
        address = f"redis://127.0.0.1:{shown}/0"
        environment = os.environ | {"BENCH_REDIS": address, "BENCH_SECRET": _SECRET}
        log = data / "deliveries.jsonl"
        receiver = await opened.enter_async_context(
            child(
                [sys.executable, "-m", "local.receiver", "--secret-env=BENCH_SECRET", f"--log={log}"],
                name="the receiver",
                env=environment,
                cwd=ROOT,
            )
        )
        hook = (await receiver.line(r"^ready (http://\S+)"))[1] + "/hooks/bench"
        argv = [sys.executable, "-m", "celery", "-A", "bench.celery.peer_tasks", "worker", "-P", "prefork"]
        argv += ["-c", str(_PROCESSES), "-l", "info"]
        worker = await opened.enter_async_context(child(argv, name="Celery", env=environment, cwd=ROOT))
        await worker.line("ready\\.", seconds=60)
        yield address, hook, Verified(log), psutil.Process(worker.pid)
