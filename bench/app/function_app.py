"""The real functions from a folder that can have a host.json of its own, and with BENCH_NOOP no work.

The engine has nothing to do then: a job ends the moment it is submitted. With BENCH_SUBMITTED it writes the
time of each submission into that file, and with BENCH_LOOP the longest time for which the event loop was busy
with one thing, in seconds of its thread's processor time, so that other programs do not count.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import azure.functions as func

sys.path.append(os.environ["BENCH_ROOT"])

from bench.clusters.noop import Noop, NoopEngines
from functions.accept import blueprint as accept
from functions.api import blueprint as api
from functions.deliver import blueprint as deliver
from functions.sweeper import blueprint as sweeper
from shared import wiring
from shared.core.engine import Observation, Order
from shared.core.meter import Meter
from shared.core.ports import Ports
from shared.settings import Settings

_build = wiring.build
_SUBMITTED = os.environ.get("BENCH_SUBMITTED")
_LOOP = os.environ.get("BENCH_LOOP")
_TASKS = set[asyncio.Task[None]]()


class _Noted(Noop):
    """Writes down when a job came, if asked to."""

    async def submit(self, order: Order) -> Observation | None:
        if _SUBMITTED:
            _note(Path(_SUBMITTED))
        return await super().submit(order)


def _note(submitted: Path) -> None:
    with submitted.open("a") as file:
        file.write(f"{time.time():.6f}\n")


async def _watch_loop(file: Path) -> None:
    """The file is removed where a measurement begins."""
    longest = 0.0
    while True:
        before = time.thread_time()
        await asyncio.sleep(0.002)
        longest = _longest(file, time.thread_time() - before, longest)


def _longest(file: Path, busy: float, longest: float) -> float:
    if busy <= longest and file.exists():
        return longest
    file.write_text(f"{busy:.6f}")
    return busy


def _with_noop(settings: Settings, meter: Meter | None = None) -> Ports:
    ports = _build(settings, meter)
    if _LOOP:
        _TASKS.add(asyncio.get_running_loop().create_task(_watch_loop(Path(_LOOP))))
    return replace(ports, engines=NoopEngines(ports.engines.clusters, _Noted()))


if os.environ.get("BENCH_NOOP"):
    wiring.build = _with_noop
app = func.FunctionApp()
for blueprint in (accept, api, sweeper, deliver):
    app.register_functions(blueprint)
