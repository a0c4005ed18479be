"""A run that outlasts its period: the next one begins at once, as on Azure's host, and none overlaps."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import pytest

from local.host.times import Times
from local.host.triggers.schedule import parse_schedule
from local.host.triggers.timer import Timer
from local.host.worker.contract import Function

_RUN = timedelta(seconds=5)


class _World:
    """A clock that goes on by a millisecond with each look, storage for a lock, and runs that take 5 s."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, 0, 1, 998_000, tzinfo=UTC)
        self.begins: list[float] = []
        self.enough = asyncio.Event()

    def clock(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    async def run(self, *_: Any, **__: Any) -> None:
        self.begins.append(self.now.timestamp())
        self.now += _RUN
        if len(self.begins) == 4:
            self.enough.set()
            await asyncio.Event().wait()

    def get_container_client(self, _: str) -> "_World":
        return self

    def get_blob_client(self, *_: str) -> "_World":
        return self

    async def acquire_lease(self, lease_duration: int) -> "_World":
        return self

    async def release(self) -> None: ...


@pytest.mark.parametrize("text", ["*/2 * * * * *", "00:00:00"])
async def test_a_timer_that_is_late_runs_back_to_back(text: str) -> None:
    world = _World()
    environment = SimpleNamespace(id="host", times=Times(), invoker=world)
    trigger = {"type": "timerTrigger", "name": "timer", "direction": "in", "useMonitor": False}
    function = Function(id="1", name="sweeper", bindings=(trigger,))

    timer = Timer(function, parse_schedule(text), cast(Any, environment), cast(Any, world), world.clock)
    running = asyncio.create_task(timer.run())
    await world.enough.wait()
    running.cancel()
    await asyncio.wait({running})
    await timer.drain(0)

    assert [round(later - earlier, 1) for earlier, later in pairwise(world.begins)] == [5.0] * 3
