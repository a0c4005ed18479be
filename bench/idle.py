"""What runs when nothing happens: processor time and storage requests of a minute, dollars of a month.

The whole stack as `slipway up` starts it, the app alone as a deployment has it (its sweeper and its inventory
by their defaults, drops by Event Grid), and Celery beside them in the same minute.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping

import aiohttp
import psutil

from bench.celery import peer
from bench.cost.money import by_service, dollars
from bench.world import World, cpu_of_all, polls, world
from shared.setting_table.rows import SETTINGS
from slipway.stack.provision import Plan

#: Seconds until every process has done once what it does.
_SETTLE = 5.0
_MINUTES_OF_A_MONTH = 30 * 24 * 60
_DEPLOYED = {
    **{name: SETTINGS[name].default for name in ("SLIPWAY_SWEEPER_SCHEDULE", "SLIPWAY_INVENTORY_SECONDS")},
}


async def idle(seconds: float) -> dict[str, float]:
    """All of it in the same `seconds`, as figures of a minute. The timers want whole minutes."""
    async with (
        world(noop=False, settings={}, plan=Plan(maximum=2)) as up,
        world(noop=False, settings=_DEPLOYED, plan=Plan(maximum=2)) as deployed,
    ):
        await asyncio.gather(_warm(up), _warm(deployed))
        await asyncio.sleep(_SETTLE)
        results = await asyncio.gather(
            _watched("idle stack", up, _all_of(up), seconds),
            _watched("idle app", deployed, [deployed.host], seconds),
            peer.idle(seconds),
        )
    return {name: figure for part in results for name, figure in part.items()}


async def _warm(one: World) -> None:
    """Every timer once: what its first run imports belongs to the start, not to a minute."""
    async with aiohttp.ClientSession(one.running.host_url, raise_for_status=True) as http:
        await http.post("/admin/functions/sweeper", json={"input": ""})


async def _watched(
    name: str, one: World, processes: list[psutil.Process], seconds: float
) -> dict[str, float]:
    before, spent = Counter(one.requests.lines), cpu_of_all(*processes)
    worker = cpu_of_all(one.worker)
    await asyncio.sleep(seconds)
    calls, minute = one.requests.lines_since(before), 60 / seconds
    return {
        f"{name} CPU ms/min": (cpu_of_all(*processes) - spent) * 1000 * minute,
        f"{name} worker CPU ms/min": (cpu_of_all(one.worker) - worker) * 1000 * minute,
        f"{name} requests/min": calls.total() * minute,
        f"{name} polls/min": polls(calls) * minute,
        f"{name} $/month": _month(calls, minute),
    }


def _month(counts: Mapping[str, int], minute: float) -> float:
    """Of the storage; `dollars` counts in millions."""
    return dollars(by_service(counts, 1), invocations=0) / 1e6 * minute * _MINUTES_OF_A_MONTH


def _all_of(one: World) -> list[psutil.Process]:
    return [psutil.Process(process.pid) for process in one.running.processes]
