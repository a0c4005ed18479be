"""A cluster, its jobs and a clock that the test owns: the scheduler's decisions happen, nothing else does."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from local.batchai.state import scheduler, transitions
from local.batchai.state.models import Cluster, Job
from local.nodes.work import Outcome

START = datetime(2026, 1, 1, tzinfo=UTC)
PACE = scheduler.Pace(
    provisioning=timedelta(seconds=10), idle=timedelta(seconds=60), leaving=timedelta(seconds=5)
)


def autoscale(most: int, least: int = 0, initial: int = 0) -> dict[str, Any]:
    return {"autoScale": {"minimumNodeCount": least, "maximumNodeCount": most, "initialNodeCount": initial}}


def manual(target: int, option: str = "requeue") -> dict[str, Any]:
    return {"manual": {"targetNodeCount": target, "nodeDeallocationOption": option}}


class Simulation:
    """Time passes by `run`, work ends by `end`."""

    def __init__(self, scale: dict[str, Any]) -> None:
        self.now = START
        self.jobs: dict[str, Job] = {}
        self.halted: list[tuple[str, str]] = []
        self.started: list[str] = []
        self.wake: datetime | None = None
        self.cluster = Cluster(
            id="/c",
            sequence=1,
            created=START - PACE.idle,
            document={"scaleSettings": scale},
            suffix="",
            allocation_since=START,
        )

    def submit(self, name: str, nodes: int = 1, priority: str = "normal", wall_clock: float = 1e6) -> None:
        self.jobs[name] = Job(
            id=name,
            sequence=len(self.jobs) + 2,
            created=self.now,
            since=self.now,
            document={"nodeCount": nodes, "schedulingPriority": priority},
            cluster="/c",
            instance=name,
            wall_clock=wall_clock,
        )

    def end(self, name: str, exit_code: int | None = 0, requeue: bool = False) -> None:
        """The run of a job ends."""
        job = self.jobs[name]
        self.cluster = transitions.move_nodes(self.cluster, job.nodes, "idle", self.now)
        self.jobs[name] = transitions.end_job(job, Outcome(exit_code=exit_code, requeue=requeue), self.now)
        self.settle()

    def scale(self, scale: dict[str, Any]) -> None:
        scaled = self.cluster.evolve(document={"scaleSettings": scale})
        self.cluster = transitions.settled(scaled, self.now)
        self.settle()

    def run(self, seconds: float) -> None:
        """Let time pass, waking up only when the scheduler asked for it."""
        self.settle()
        end = self.now + timedelta(seconds=seconds)
        while self.wake is not None and self.wake <= end:
            self.now = max(self.now, self.wake)
            self.settle()
        self.now = end

    def settle(self) -> None:
        """Decide and apply until there is nothing more to do now."""
        for _ in range(100):
            active = tuple(job for job in self.jobs.values() if job.active)
            decision = scheduler.decide(self.cluster, active, self.now, PACE)
            self.wake = decision.wake
            assert self.wake is None or self.wake > self.now
            if not decision.actions:
                return
            for action in decision.actions:
                self.cluster = transitions.settled(self._apply(action), self.now)
        raise AssertionError("the scheduler never comes to rest")

    def state(self, name: str) -> str:
        return self.jobs[name].state

    def allocation(self) -> str:
        return self.cluster.allocation

    def states(self) -> list[str]:
        return sorted(node.state for node in self.cluster.nodes)

    def _apply(self, action: scheduler.Action) -> Cluster:
        cluster, now = self.cluster, self.now
        match action:
            case scheduler.Provision(count):
                used = {node.number for node in cluster.nodes}
                free = (number for number in itertools.count(1) if number not in used)
                return transitions.provisioned(cluster, itertools.islice(free, count), now)
            case scheduler.Prepare(node):
                return transitions.move_nodes(cluster, [node], "idle", now)
            case scheduler.Release(nodes):
                return transitions.move_nodes(cluster, nodes, "leaving", now)
            case scheduler.Remove(nodes):
                return transitions.removed(cluster, nodes)
            case scheduler.Start(name, nodes):
                self.started.append(name)
                self.jobs[name] = transitions.start_job(self.jobs[name], nodes, now)
                return transitions.move_nodes(cluster, nodes, "running", now, name)
            case scheduler.Halt(name, reason):
                self.halted.append((name, reason))
                self.jobs[name] = transitions.halted(self.jobs[name], reason, now)
                return cluster
