"""Prepares a node that has just booted: its directories, and the start task of its pool."""

import asyncio
import shutil
from collections.abc import Callable
from datetime import datetime
from typing import Any

from local.azurebatch.run.attempt import argv_of
from local.azurebatch.run.endings import Failure
from local.azurebatch.run.environment import node_environment, settings_of
from local.azurebatch.run.node_directory import directory_of
from local.azurebatch.run.transfer import fetch
from local.azurebatch.settings import Settings
from local.azurebatch.state.database import Store
from local.azurebatch.state.models import Node, Pool
from local.azurebatch.state.moment import stamp
from local.nodes import tasks
from local.nodes.launcher import Launcher


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
    directory_of(settings.data, node).make()
    if start is None:
        return
    info: dict[str, Any] = {"retryCount": 0, "startTime": stamp(clock())}
    for number in range(start.get("maxTaskRetryCount", 0) + 1):
        info = {"retryCount": number, "startTime": stamp(clock())}
        info |= await _run(start, pool, node, settings, launcher)
        if info["result"] == "success":
            break
    info |= {"state": "completed", "endTime": stamp(clock())}
    current = store.pools.get(pool.key)
    latest = current.node(node.id) if current else None
    if current is None or latest is None:
        return
    changed = latest.evolve(start_task=info)
    if latest.state == "waitingforstarttask":
        good = info["result"] == "success"
        changed = changed.evolve(state="idle" if good else "starttaskfailed", since=clock())
    store.save(current.with_node(changed))


async def _run(
    start: dict[str, Any], pool: Pool, node: Node, settings: Settings, launcher: Launcher
) -> dict[str, Any]:
    spot = directory_of(settings.data, node)
    env = node_environment(settings, pool, node, spot)
    env |= {"AZ_BATCH_TASK_DIR": str(spot.startup), "AZ_BATCH_TASK_WORKING_DIR": str(spot.startup / "wd")}
    env |= settings_of(start.get("environmentSettings"))
    directory = settings.data / "tasks" / node.id
    try:
        await fetch(start.get("resourceFiles", ()), spot.startup / "wd")
        order = tasks.Task(
            directory=directory / "start",
            argv=argv_of(start["commandLine"], env),
            env=env,
            cwd=spot.startup / "wd",
            stdout=spot.startup / "stdout.txt",
            stderr=spot.startup / "stderr.txt",
        )
        code = await tasks.run(order, launcher)
    except Failure as error:
        return {"result": "failure", "failureInfo": error.info}
    except tasks.TaskLost:
        return {"result": "failure"}
    except asyncio.CancelledError:
        await tasks.end_all(directory)
        raise
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return {"exitCode": code, "result": "failure" if code else "success"}
