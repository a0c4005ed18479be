"""The preparation of nodes for a job, before its first task there, and their release at its end."""

import asyncio
import shutil
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from local.azurebatch.run.environment import node_environment, settings_of
from local.azurebatch.run.node_directory import directory_of
from local.azurebatch.run.side_task import SideTask
from local.azurebatch.settings import Settings
from local.azurebatch.state.database import Store
from local.azurebatch.state.models import PREPARATION, RELEASE, Job, Node, Pool
from local.conduct import commit
from local.nodes import tasks
from local.nodes.launcher import Launcher


class Preparations:
    """Runs each command once for a job and a node. `nudge` wakes the conductor when one has ended."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        launcher: Launcher,
        clock: Callable[[], datetime],
        nudge: Callable[[], None],
    ) -> None:
        self._store, self._settings, self._launcher = store, settings, launcher
        self._clock, self._nudge = clock, nudge
        #: the numbers of jobs whose processes were looked for at their end
        self._ended_jobs: set[int] = set()
        #: kind, number of the job and node → the command that runs
        self._running: dict[tuple[str, int, str], asyncio.Task[bool]] = {}

    async def stop(self) -> None:
        """End all commands. They run again at the next start."""
        for work in self._running.values():
            work.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def prepare(self, job: str, pool: str, nodes: Iterable[str]) -> bool:
        """Whether these nodes are prepared for a job, after its preparation where it has not run yet."""
        record = self._store.jobs[job]
        if PREPARATION not in record.document:
            return True
        works = [self._work(PREPARATION, record, pool, node) for node in nodes]
        # Another task of the job may wait for the same preparation.
        return all(await asyncio.gather(*map(asyncio.shield, works)))

    def closed(self, job: Job) -> Collection[str]:
        """The nodes whose preparation for a job has failed: no task of the job runs there."""
        if not job.document.get(PREPARATION, {}).get("waitForSuccess", True):
            return ()
        return [node for node, done in job.prepared.items() if done[PREPARATION].get("result") == "failure"]

    def release(self, job: Job) -> bool:
        """Whether each prepared node is released from a job that ends, or gone. Begins what is missing.

        A preparation that still runs is ended first.
        """
        preparing = [name for name in self._running if name[:2] == (PREPARATION, job.sequence)]
        self._end(preparing)
        if preparing or self._ends_what_is_left(job):
            return False
        pool = self._store.pools.get(job.pool)
        if RELEASE not in job.document or pool is None:
            return True
        begun = (node for node, done in job.prepared.items() if RELEASE in done)
        unreleased = [node for node in job.prepared.keys() - set(begun) if _usable(pool, node)]
        for node in unreleased:
            self._work(RELEASE, job, pool.key, node)
        return not unreleased

    def _ends_what_is_left(self, job: Job) -> bool:
        """Whether processes of preparations are being ended that an emulator which crashed has left."""
        name = ("left", job.sequence, "")
        if name in self._running:
            return True
        leftovers = [*(self._settings.data / "tasks").glob(f"{PREPARATION}-{job.sequence}-*")]
        if leftovers and job.sequence not in self._ended_jobs:
            self._ended_jobs.add(job.sequence)
            work = self._running[name] = asyncio.create_task(_end_all(leftovers))
            work.add_done_callback(lambda _: self._ended(name))
        return name in self._running

    def forget(self, node: Node) -> None:
        """A node reboots: its preparations end, and run again where their authors want that."""
        self.leave(node)
        for job in list(self._store.jobs.values()):
            again = job.document.get(PREPARATION, {}).get("rerunOnNodeRebootAfterSuccess", True)
            failed = job.prepared.get(node.id, {}).get(PREPARATION, {}).get("result") == "failure"
            if node.id in job.prepared and (again or failed):
                rest = {name: done for name, done in job.prepared.items() if name != node.id}
                self._store.save(job.evolve(prepared=rest))

    def leave(self, node: Node) -> None:
        """End what runs on a node that goes."""
        self._end([name for name in self._running if name[2] == node.id])

    def _end(self, names: Sequence[tuple[str, int, str]]) -> None:
        for work in (self._running[name] for name in names):
            if not work.cancelling():  # a second time would cut off what ends its processes
                work.cancel()

    def _work(self, kind: str, job: Job, pool: str, node: str) -> "asyncio.Task[bool]":
        name = (kind, job.sequence, node)
        if name not in self._running:
            work = self._running[name] = asyncio.create_task(self._run(kind, job, pool, node))
            work.add_done_callback(lambda _: self._ended(name))
        return self._running[name]

    def _ended(self, name: tuple[str, int, str]) -> None:
        self._running.pop(name, None)
        self._nudge()

    async def _run(self, kind: str, job: Job, pool_key: str, node_id: str) -> bool:
        pool = self._store.pools[pool_key]
        node = pool.node(node_id)
        if node is None:
            return False
        done = job.prepared.get(node_id, {}).get(kind)
        if done is None:
            done = await self._command(kind, job, pool, node).run(self._launcher, self._clock)
            await commit(lambda: self._note(job, node_id, {"poolId": pool.id, kind: done}), lambda: False)
        return done["result"] == "success" or not job.document[kind].get("waitForSuccess", True)

    def _note(self, begun: Job, node_id: str, entry: dict[str, Any]) -> None:
        job = self._store.jobs.get(begun.key)
        if job is not None and job.sequence == begun.sequence:
            noted = {**job.prepared.get(node_id, {}), **entry}
            self._store.save(job.evolve(prepared={**job.prepared, node_id: noted}))

    def _command(self, kind: str, job: Job, pool: Pool, node: Node) -> SideTask:
        spot = directory_of(self._settings.data, node)
        document = job.document[kind]
        place = spot.task(job.id, document["id"])
        env = node_environment(self._settings, pool, node, spot)
        env |= {"AZ_BATCH_JOB_ID": job.id, "AZ_BATCH_TASK_ID": place.name, "HOME": str(place / "wd")}
        env |= settings_of(job.document.get("commonEnvironmentSettings"))
        processes = self._settings.data / "tasks" / f"{kind}-{job.sequence}-{node.id}"
        return SideTask(document, env, place, processes)


async def _end_all(directories: Sequence[Path]) -> bool:
    for directory in directories:
        await tasks.end_all(directory)
        shutil.rmtree(directory, ignore_errors=True)
    return True


def _usable(pool: Pool, node_id: str) -> bool:
    node = pool.node(node_id)
    return node is not None and node.state not in ("leavingpool", "preempted")
