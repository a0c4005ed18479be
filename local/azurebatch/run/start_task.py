"""Prepares a node that has just booted: its directories, and the start task of its pool."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from local.azurebatch.run.environment import node_environment
from local.azurebatch.run.node_directory import directory_of
from local.azurebatch.run.side_task import SideTask
from local.azurebatch.settings import Settings
from local.azurebatch.state.database import Store
from local.azurebatch.state.models import Node
from local.nodes.launcher import Launcher


def processes_of(settings: Settings, node: Node) -> Path:
    """The directory that names the process of a node's start task."""
    return settings.data / "tasks" / node.id


async def prepare(
    store: Store,
    settings: Settings,
    launcher: Launcher,
    clock: Callable[[], datetime],
    name: tuple[str, str],
) -> None:
    """Run the start task, as often as its author allows. Then the node is idle, or unusable."""
    pool = store.pools[name[0]]
    node = pool.node(name[1])
    start: dict[str, Any] | None = pool.document.get("startTask")
    if node is None:
        return
    spot = directory_of(settings.data, node)
    spot.make()
    if start is None:
        return
    env = node_environment(settings, pool, node, spot)
    side_task = SideTask(start, env, spot.startup, processes_of(settings, node))

    def goes_on() -> bool:
        latest = store.pools.get(pool.key)
        again = latest.node(node.id) if latest else None
        return again is not None and again.booted == node.booted and again.state != "leavingpool"

    info = await side_task.run(launcher, clock, goes_on)
    current = store.pools.get(pool.key)
    latest = current.node(node.id) if current else None
    if current is None or latest is None:
        return
    changed = latest.evolve(start_task=info)
    if latest.state == "waitingforstarttask":
        good = info["result"] == "success"
        changed = changed.evolve(state="idle" if good else "starttaskfailed", since=clock())
    store.save(current.with_node(changed))
