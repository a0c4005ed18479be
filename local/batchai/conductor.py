"""Makes the scheduler's decisions happen: nodes come and go, jobs run and end. Sleeps until there is work."""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from confined.removal import remove
from local.batchai.launch.setup_task import prepare
from local.batchai.launch.work import BatchAIWork
from local.batchai.ssh.servers import LoginServers
from local.batchai.state import ids, scheduler, transitions
from local.batchai.state.database import Store
from local.batchai.state.models import Cluster, Experiment, FileServer, Group, Job, Node, Stop
from local.batchai.state.settings import Settings
from local.conduct import commit, conduct, spawn
from local.nodes.launcher import Launcher
from local.nodes.machine import root
from local.nodes.mounts import Mounter
from local.nodes.run import Run
from local.nodes.work import DEFECT, Outcome, never_began
from local.record_file import StoreFullError

_log = logging.getLogger(__name__)


class Conductor:
    """The only code that changes nodes and running jobs.

    `clock` gives the time in UTC; `on_end` is called with each job that ends.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Callable[[], datetime],
        on_end: Callable[[Job], None] = lambda _: None,
    ) -> None:
        self._on_end = on_end
        self._store, self._settings, self._clock = store, settings, clock
        self._mounter = Mounter(settings, self._files_of_server)
        self._launcher = Launcher()
        self._runs: dict[str, Run] = {}
        self.logins = LoginServers(store, settings.data, self._runs)
        self._running, self._preparing = set[asyncio.Task[None]](), set[asyncio.Task[None]]()
        self._news = asyncio.Event()
        #: Cluster → the version of the last decision, and when to look again.
        self._decided: dict[str, tuple[int, datetime | None]] = {}
        self._loop: asyncio.Task[None] | None = None
        self._stopping = False

    async def start(self) -> None:
        """Continue an earlier emulator's work: jobs go on, nodes in preparation begin it again."""
        for cluster in self._store.clusters:
            for node in cluster.nodes:
                if node.state == "preparing":
                    spawn(self._prepare(cluster.id, node.id), self._preparing)
            for job in self._store.active(cluster):
                if job.nodes:
                    self._begin(cluster, job)
        self.logins.start()
        self._loop = asyncio.create_task(conduct(self._pass, self._news, self._clock), name="conductor")

    async def stop(self) -> None:
        """End all jobs' processes; the jobs go back to the queue and run again at the next start."""
        self._stopping = True
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.wait({self._loop})
        await self.logins.stop()
        for key, run in self._runs.items():
            job = self._store.jobs.get(key)
            if job is not None:
                with contextlib.suppress(StoreFullError):  # the next start finds that its processes are gone
                    self._store.save(transitions.halted(job, "requeue", self._clock()))
            run.stop("the emulator stops; the job will run again")
        for preparing in self._preparing:
            preparing.cancel()
        if self._preparing | self._running:
            await asyncio.wait(self._preparing | self._running)
        await self._launcher.close()
        await self._mounter.close()

    def nudge(self) -> None:
        """Something has changed: look again."""
        self._news.set()

    def halt(self, job: Job, reason: Stop) -> None:
        """Stop a job, or take it out of the queue."""
        halted = transitions.halted(job, reason, self._clock())
        self._store.save(halted)
        if job.active and not halted.active:
            self._on_end(halted)
        if run := self._runs.get(ids.key(job.id)):
            run.stop(reason, transitions.FAULTS.get(reason))
        self.nudge()

    def preempt(self, cluster: Cluster, node: Node) -> None:
        """Preempt a node, as a region does with low-priority ones; a job on it goes back to the queue."""
        self._store.save(transitions.preempted(cluster, node.id))
        job = self._store.jobs.get(node.job) if node.job else None
        if job is not None:
            self.halt(job, "requeue")
        self.nudge()

    async def _commit(self, change: Callable[[], None]) -> None:
        await commit(change, lambda: self._stopping)

    def _pass(self) -> datetime | None:
        wakes = []
        for cluster in self._store.clusters:
            version, wake = self._decided.get(cluster.id, (-1, None))
            if version == self._store.version(cluster) and (wake is None or wake > self._clock()):
                wakes.append(wake)
                continue
            current: Cluster | None = cluster
            while current is not None:
                jobs = self._store.active(current)
                decision = scheduler.decide(current, jobs, self._clock(), self._settings.pace)
                if not decision.actions:
                    wakes.append(decision.wake)
                    self._decided[cluster.id] = (self._store.version(current), decision.wake)
                    break
                for action in decision.actions:
                    self._do(current.id, action)
                current = self._store.clusters.get(current.id)
        self._reap()
        self.logins.nudge()
        return min((wake for wake in wakes if wake is not None), default=None)

    def _do(self, cluster_id: str, action: scheduler.Action) -> None:
        cluster = self._store.clusters[cluster_id]
        now = self._clock()
        match action:
            case scheduler.Provision(count):
                numbers = itertools.islice(self._free_numbers(), count)
                cluster = transitions.provisioned(cluster, list(numbers), now)
            case scheduler.Prepare(node):
                self._store.save(
                    transitions.settled(transitions.move_nodes(cluster, [node], "preparing", now), now)
                )
                spawn(self._prepare(cluster.id, node), self._preparing)
                return
            case scheduler.Release(nodes):
                cluster = transitions.move_nodes(cluster, nodes, "leaving", now)
            case scheduler.Remove(nodes):
                self._erase(cluster, nodes)
                cluster = transitions.removed(cluster, nodes)
            case scheduler.Start(job_id, nodes):
                self._start(cluster, job_id, nodes, now)
                return
            case scheduler.Halt(job_id, reason):
                self.halt(self._store.jobs[job_id], reason)
                return
        self._store.save(transitions.settled(cluster, now))

    def _start(self, cluster: Cluster, job_id: str, nodes: tuple[str, ...], now: datetime) -> None:
        job = transitions.start_job(self._store.jobs[job_id], nodes, now)
        cluster = transitions.move_nodes(cluster, nodes, "running", now, ids.key(job_id))
        self._store.save(cluster, job)
        self._begin(cluster, job)

    def _begin(self, cluster: Cluster, job: Job) -> None:
        key = ids.key(job.id)

        async def record_outputs(outputs: dict[str, str]) -> None:
            def change() -> None:
                if (current := self._store.jobs.get(key)) is not None:
                    self._store.save(current.evolve(outputs=outputs))

            await self._commit(change)

        work = BatchAIWork(job, cluster, self._settings)
        run = Run(work, self._settings, self._mounter, self._launcher, self._clock, record_outputs)
        self._runs[key] = run
        if job.stop:
            run.stop(job.stop, transitions.FAULTS.get(job.stop))
        spawn(self._finish(key, run), self._running)

    async def _finish(self, key: str, run: Run) -> None:
        try:
            outcome: Outcome = await run.execute()
        except Exception:  # noqa: BLE001 a defect must not hold the nodes of the job for ever
            _log.exception("a defect of the emulator at the end of a run")
            outcome = never_began(DEFECT)

        def change() -> None:
            job = self._store.jobs[key]
            cluster = self._store.clusters[job.cluster]
            now = self._clock()
            ended = transitions.end_job(job, outcome, now)
            self._store.save(ended, transitions.move_nodes(cluster, job.nodes, "idle", now))
            del self._runs[key]
            if not ended.active:
                self._on_end(ended)

        await self._commit(change)
        self.nudge()

    async def _prepare(self, cluster_id: str, node_id: str) -> None:
        cluster = self._store.clusters[cluster_id]
        fault = await prepare(cluster, node_id, self._settings, self._mounter, self._launcher)

        def change() -> None:
            cluster = self._store.clusters[cluster_id]
            self._store.save(transitions.finish_preparation(cluster, node_id, fault, self._clock()))

        await self._commit(change)
        self.nudge()

    def _reap(self) -> None:
        """Delete marked resources in which nothing is alive; children come before parents."""
        store = self._store
        for one in sorted(store.deleting.values(), key=lambda one: -len(ids.names_in(one.id))):
            match one:
                case Job():
                    alive = one.active
                case Cluster():
                    alive = bool(one.nodes or store.active(one))
                case Experiment():
                    alive = bool(store.jobs.children(one.id))
                case Group():
                    alive = bool(store.workspaces.children(f"{one.id}/providers/{ids.PROVIDER}"))
                case _:
                    below = (store.experiments, store.clusters, store.file_servers)
                    alive = any(shelf.children(one.id) for shelf in below)
            if not alive:
                store.forget(one)
                self._decided.pop(one.id, None)
                if isinstance(one, FileServer):
                    remove(self._settings.server(one.instance))
                if isinstance(one, Cluster):
                    remove(self._settings.python(one.id))

    def _files_of_server(self, server_id: str) -> Path | None:
        server = self._store.file_servers.get(server_id)
        return None if server is None or server.deleting else self._settings.server(server.instance)

    def _free_numbers(self) -> Iterator[int]:
        used = {node.number for cluster in self._store.clusters for node in cluster.nodes}
        return (number for number in itertools.count(1) if number not in used)

    def _erase(self, cluster: Cluster, nodes: tuple[str, ...]) -> None:
        for node in cluster.nodes:
            if node.id in nodes:
                remove(root(self._settings.data, node.number))
