"""upkeep: what no job waits for, by the sweeper's clock: drops whose event never came, and the archive.

A timer of its own would wake an instance for each. Every process has its own clock, and begins with all of
it: what a process did not finish, because it died or its time was over, the next pass does, in any process.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from shared.core.ports import Ports
from shared.intake.drops.inventory import InventoryCounts, inventory
from shared.lifecycle.archive import Archived, archive
from shared.lifecycle.collect import collect_now_and_then
from shared.lifecycle.steps import step

log = logging.getLogger(__name__)

#: A pass that comes a little early is not to leave it to the next one.
_SLACK = 0.9


class _Result(Protocol):
    @property
    def whole(self) -> bool: ...


Done = TypeVar("Done", bound=_Result)


async def upkeep(ports: Ports) -> None:
    """Make an inventory and run the archive if they are due. One that fails is due at the next pass."""
    await step("drops whose event never came", _inventory(ports))
    await step("records for the archive", _archive(ports))


async def _inventory(ports: Ports) -> int:
    async def run() -> InventoryCounts:
        counted = await inventory(ports)
        if counted.looked:
            log.info("inventory: %s", counted)
        return counted

    return await _now_and_then(ports, "inventory", ports.policy.inventory_every, run)


async def _archive(ports: Ports) -> int:
    async def run() -> Archived:
        archived = await archive(ports)
        if archived.jobs:
            log.info("archived: %s", archived)
        collected = await collect_now_and_then(ports)
        if collected.deleted:
            log.info("collected: %s", collected)
        return archived

    return await _now_and_then(ports, "archive", ports.policy.archive_every, run)


async def _now_and_then(ports: Ports, name: str, every: float, act: Callable[[], Awaitable[Done]]) -> int:
    """Act unless this process did so within these seconds, and had time for all of it."""
    runs = 0

    async def run() -> Done:
        nonlocal runs
        runs = 1
        return await act()

    def good(last: Done) -> float:
        return _SLACK * every if last.whole else 0.0

    if every:
        await ports.chores.get(name, ports.clock(), good, run)
    return runs
