"""Messages of a host that ended stay hidden for ten minutes, as on Azure: the sweeper does their work.

Nothing of that time is shortened here; the sweeper's own periods are.
"""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio

from local.process import Child
from local.stack import Options, stack
from tests.acceptance.conftest import KEY, provisioned
from tests.acceptance.door import Door, eventually, shell, unique

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: Deaths of its worker after which a host ends.
_DEATHS = 3
SETTINGS = {
    "SLIPWAY_SWEEPER_SCHEDULE": "*/1 * * * * *",
    "SLIPWAY_INVENTORY_SECONDS": "0",
    "SLIPWAY_SUBMIT_LEASE_SECONDS": "3",
    "SLIPWAY_DELIVER_GRACE_SECONDS": "3",
}


@pytest_asyncio.fixture(loop_scope="session")
async def door(tmp_path: Path) -> AsyncIterator[Door]:
    options = Options(data=tmp_path, in_memory=True, overrides=SETTINGS)
    async with stack(options, provisioned) as running, Door(running, KEY) as opened:
        yield opened


@pytest.mark.thorough
async def test_the_sweeper_submits_what_a_hidden_message_had_begun(door: Door) -> None:
    name, cluster = unique("hidden"), process_of(door, "the emulator")
    for _ in range(_DEATHS - 1):
        await _kill_worker(door)
    cluster.signal(signal.SIGSTOP)
    try:
        await door.send({"name": name, "spec": shell("true")})
        await eventually(lambda: recorded(door, name), "the record")
        await _kill_worker(door)
        await eventually(lambda: _next_host(door), "the next host")
    finally:
        cluster.signal(signal.SIGCONT)

    assert (await door.ended(name=name))["state"] == "succeeded"
    # A notice of the job's end, too, is hidden while it is handled.
    await eventually(lambda: _is_hidden(door, "jobs"), "the one hidden message")


@pytest.mark.thorough
async def test_the_sweeper_delivers_the_event_of_a_host_that_ended(door: Door) -> None:
    name, receiver = unique("untold"), process_of(door, "the receiver")
    for _ in range(_DEATHS - 1):
        await _kill_worker(door)
    receiver.signal(signal.SIGSTOP)
    try:
        await door.call("POST", "jobs", {"name": name, "spec": shell("true"), "notify": [door.hook(name)]})
        await door.ended(name=name)
        await _kill_worker(door)
        await eventually(lambda: _next_host(door), "the next host")
    finally:
        receiver.signal(signal.SIGCONT)

    await door.event(name, "io.slipway.job.succeeded.v1")


def process_of(door: Door, name: str) -> Child:
    return next(process for process in door.stack.processes if process.name == name)


async def _kill_worker(door: Door) -> None:
    host = psutil.Process(process_of(door, "the host").pid)

    async def one() -> psutil.Process | None:
        return next(iter(host.children()), None)

    worker = await eventually(one, "a worker")
    with suppress(psutil.NoSuchProcess):
        worker.kill()

    async def another() -> bool | None:
        return True if worker.pid not in [child.pid for child in host.children()] else None

    await eventually(another, "the worker to be gone")
    await eventually(lambda: _answers(door), "the app")


async def _answers(door: Door) -> bool | None:
    with suppress(OSError):
        status, _, _ = await door.call("GET", "jobs?limit=1")
        return True if status == 200 else None
    return None


async def recorded(door: Door, name: str) -> dict[str, Any] | None:
    return next(iter(await door.jobs(name=name)), None)


async def _next_host(door: Door) -> bool | None:
    lines = (door.stack.logs / "host.log").read_text().splitlines()
    return True if sum(line.startswith("ready ") for line in lines) == 2 else None


async def _is_hidden(door: Door, queue: str) -> bool:
    return await _hidden(door, queue) == 1


async def _hidden(door: Door, queue: str) -> int:
    """Messages of a queue that are not visible."""
    client = door.queues.get_queue_client(queue)
    count = (await client.get_queue_properties()).approximate_message_count or 0
    return count - len(await client.peek_messages(max_messages=32))
