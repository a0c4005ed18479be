"""Moves nodes and tasks through their states. Sleeps until there is work."""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from confined.removal import remove
from local.azurebatch.run import changes, pool_nodes
from local.azurebatch.run.attempt import Attempt
from local.azurebatch.run.endings import Ending
from local.azurebatch.run.job_ends import Jobs
from local.azurebatch.run.preparations import Preparations
from local.azurebatch.run.scaler import Scaler
from local.azurebatch.run.schedule import placements
from local.azurebatch.run.start_task import prepare, processes_of
from local.azurebatch.settings import Settings
from local.azurebatch.state.database import Store
from local.azurebatch.state.models import Node, Pool, Task
from local.conduct import commit, conduct, pause_after, spawn
from local.nodes import tasks
from local.nodes.launcher import Launcher
from local.nodes.machine import root
from local.record_file import StoreFullError

_log = logging.getLogger(__name__)
#: The name of the work on start tasks, which is cancelled when the emulator stops.
_START = "start task"


@dataclass(frozen=True)
class _Running:
    """A run of a task: its nodes, and how to end it early."""

    task: Task
    stop: asyncio.Event


class Conductor:
    """The only code that changes nodes and running tasks. `clock` gives the time in UTC."""

    def __init__(self, store: Store, settings: Settings, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._launcher = Launcher()
        #: runs whose processes may be alive, by the run's mark
        self._runs: dict[str, _Running] = {}
        self._work: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self._stopping = False
        self.preparations = Preparations(store, settings, self._launcher, clock, self.nudge)
        self.jobs = Jobs(store, clock, self.release, self.preparations.release)
        self.scaler = Scaler(store, clock, settings.pace)

    async def start(self) -> None:
        """Continue the work of an earlier emulator: running tasks go on, start tasks begin again."""
        for pool in list(self._store.pools.values()):
            for task in self._store.running_tasks(pool):
                self._begin(task)
            for node in pool.nodes:
                if node.state == "waitingforstarttask":
                    self._spawn(self._prepare(pool.key, node.id), _START)
        self._loop = asyncio.create_task(conduct(self._pass, self._news, self._clock), name="conductor")

    async def stop(self) -> None:
        """End all processes. Their tasks wait for a node again at the next start."""
        self._stopping = True
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.wait({self._loop})
        for run in list(self._runs.values()):
            task = self._current(run.task)
            if task is not None:
                with contextlib.suppress(StoreFullError):  # the next start finds that its processes are gone
                    self._store.save(changes.requeued(task, self._clock()))
            run.stop.set()
        for work in self._work:
            if work.get_name() == _START:
                work.cancel()
        await self.preparations.stop()
        if self._work:
            await asyncio.wait(self._work)
        await self._launcher.close()

    def nudge(self) -> None:
        """Wake the conductor after a change."""
        self._news.set()

    def release(self, task: Task) -> None:
        """End the processes of a task whose record no longer runs."""
        if run := self._runs.get(task.attempt):
            run.stop.set()
        self.nudge()

    def requeue(self, pool: Pool, nodes: set[str]) -> None:
        """Let the tasks on these nodes wait for other nodes."""
        for task in self._store.running_tasks(pool):
            if task.pool == pool.key and nodes & set(task.nodes):
                self._store.save(changes.requeued(task, self._clock()))
                self.release(task)

    def preempt(self, pool: Pool, node: Node) -> None:
        """Preempt a spot node. Its tasks wait for another one."""
        self._store.save(pool_nodes.preempted(pool, node, self._clock()))
        self._vacate(node)
        self.requeue(pool, {node.id})
        self.nudge()

    def reboot(self, pool: Pool, node: Node, option: str, clean: bool) -> None:
        """Reboot a node, with `clean` as if it were new. Its tasks are requeued or terminated."""
        now = self._clock()
        clean_node = node.evolve(state="rebooting", since=now, booted=None, errors=(), start_task=None)
        clean_node = clean_node.evolve(users=()) if clean else clean_node
        self._store.save(pool.with_node(clean_node))
        self.preparations.forget(node)
        self.leave(pool, {node.id}, option)
        if clean:
            remove(root(self._settings.data, node.number))
        self.nudge()

    def fail(self, pool: Pool, node: Node) -> None:
        """A node fails, in the state that it has. Its tasks wait for another one."""
        self._store.save(pool.with_node(node.evolve(since=self._clock())))
        self.requeue(pool, {node.id})
        self.nudge()

    def _vacate(self, node: Node) -> None:
        """End what runs on a node beside its tasks."""
        self.preparations.leave(node)
        self._spawn(tasks.end_all(processes_of(self._settings, node)), "start task of a node that goes")

    def leave(self, pool: Pool, nodes: set[str], option: str) -> None:
        """Handle the tasks of nodes that leave."""
        if option in ("taskcompletion", "retaineddata"):
            return
        if option != "terminate":
            self.requeue(pool, nodes)
            return
        for task in self._store.running_tasks(pool):
            if nodes & set(task.nodes):
                self.jobs.terminate_task(task)

    def _pass(self) -> datetime | None:
        wakes = [self.jobs.check({run.task.job for run in self._runs.values()})]
        for pool in list(self._store.pools.values()):
            try:
                wakes.append(self._move(pool))
            except Exception as error:  # noqa: BLE001 an error of one pool must not delay the others
                wakes.append(self._clock() + timedelta(seconds=pause_after(error)))
        return min((wake for wake in wakes if wake is not None), default=None)

    def _move(self, pool: Pool) -> datetime | None:
        used = self._used(pool)
        scaled, wake = self.scaler.check(pool)
        step = pool_nodes.step(scaled, used, self._store.free_numbers(), self._clock(), self._settings.pace)
        leaving = {node.id for node in step.pool.nodes if node.state == "leavingpool"}
        for node in step.removed:
            self._vacate(node)
        for node in (*step.removed, *step.emptied):
            remove(root(self._settings.data, node.number))
        if step.pool.deleting and not step.pool.nodes:
            self._store.forget(step.pool)
            return None
        if step.pool is not pool:
            self._store.save(step.pool)
            self.nudge()  # one change may lead to another
        for node_id in step.booted:
            self._spawn(self._prepare(pool.key, node_id), _START)
        self.leave(step.pool, leaving, "requeue" if step.pool.deleting else step.pool.leaving)
        self._place(step.pool, used)
        return min((one for one in (wake, step.wake) if one is not None), default=None)

    def _place(self, pool: Pool, used: dict[str, int]) -> None:
        now = self._clock()
        if pool.deleting or not pool.nodes:
            return
        closed = {job.key: self.preparations.closed(job) for job in self._store.jobs_of(pool) if job.prepared}
        placed = placements(pool, used, self.jobs.waiting(pool), closed)
        started = [changes.started(task, pool.key, nodes, uuid.uuid4().hex, now) for task, nodes in placed]
        if started:
            self._store.save(*started)
            for task in started:
                self._begin(task)
            self.nudge()

    def _used(self, pool: Pool) -> dict[str, int]:
        """The slots of nodes whose processes may be alive."""
        used: dict[str, int] = {}
        for run in self._runs.values():
            if run.task.pool == pool.key:
                for node in run.task.nodes:
                    used[node] = used.get(node, 0) + run.task.slots
        return used

    def _begin(self, task: Task) -> None:
        pool, job = self._store.pools[task.pool], self._store.jobs[task.job]
        nodes = [node for name in task.nodes if (node := pool.node(name))]
        attempt = Attempt(task, job, pool, nodes, self._settings, self._launcher)
        run = self._runs[task.attempt] = _Running(task, asyncio.Event())
        self._spawn(self._run(run, attempt), "task")

    async def _run(self, run: _Running, attempt: Attempt) -> None:
        work, stop = asyncio.create_task(self._attempted(attempt)), asyncio.create_task(run.stop.wait())
        await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        work.cancel()
        (result,) = await asyncio.gather(work, return_exceptions=True)
        if isinstance(result, Exception):
            _log.error("a defect of the emulator in a task", exc_info=result)
        ending = result if isinstance(result, Ending) else Ending(lost=True)
        try:
            await attempt.end()
            await commit(lambda: self._finish(run.task, ending), lambda: self._stopping)
        finally:  # a defect must not hold its slots forever
            self._runs.pop(run.task.attempt, None)
            self.nudge()

    async def _attempted(self, attempt: Attempt) -> Ending:
        task = attempt.task
        if await self.preparations.prepare(task.job, task.pool, task.nodes):
            return await attempt.run()
        return Ending(lost=True)  # it waits for a node that can be prepared

    def _finish(self, started: Task, ending: Ending) -> None:
        task = self._current(started)
        if task is not None:
            pool = self._store.pools.get(task.pool)
            ended = changes.ended(task, ending, self._clock())
            self._store.save(ended, *([pool_nodes.counted(pool, ended)] if pool else []))
            self.jobs.task_ended(ended)

    def _current(self, started: Task) -> Task | None:
        """The record of a run; None if the record belongs to a later run."""
        task = self._store.tasks.get(started.job, {}).get(started.key)
        return task if task and task.attempt == started.attempt and task.state == "running" else None

    async def _prepare(self, pool_key: str, node_id: str) -> None:
        await prepare(self._store, self._settings, self._launcher, self._clock, (pool_key, node_id))
        self.nudge()

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        spawn(work, self._work, name)
