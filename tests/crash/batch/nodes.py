"""A model of one Batch account with its pool and nodes: its promises and, above all, what it may do.

Tasks begin only on nodes that the pool's formula has requested. A node may be taken away, and its tasks begin
again; it may be given up while its processes live on; the pool may be deleted. Through all of that, the
nodes' file system keeps the claims on attempts (`shared/engines/node/claim.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from local.azurebatch.autoscale.formula import read
from local.azurebatch.autoscale.values import Samples, World
from shared.engines.launch.plan import PLAN
from tests.crash.invariants.ran_jobs import attempts_of
from tests.doubles.claims import Claims, Earlier
from tests.unit.engines.batch.account import Reply, Request, error
from tests.unit.engines.batch.service import Service

Task = dict[str, Any]
_UNFINISHED = ("active", "running")
#: Rounds between two evaluations of a formula.
_EVALUATED = 5
_POOL = "/pools/t4"


class Cut(StrEnum):
    """What happens to a task whose node no longer answers, while its processes live on."""

    REQUEUED = "it runs again on another node"
    FAILED = "the service says that it has failed"


class NodeLost(BaseException):
    """The node is taken away while its program runs."""


@dataclass
class Azure(Service):
    """The account, its pool and the nodes. `clock` gives Unix time."""

    clock: Callable[[], float] = lambda: 0.0
    #: whether copies of an attempt see its claim
    fenced: bool = True
    cut: Cut | None = None
    #: rounds for which processes that are cut off live on
    lives: int = 0
    #: the rounds in which the pool is being deleted or does not exist
    absence: range = range(0)
    round: int = 0
    nodes: int = 0
    claims: Claims = field(default_factory=Claims)
    #: names of the attempts that really began, and of those that really ended
    began: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    #: number of a run → name of its task
    alive: dict[int, str] = field(default_factory=dict)
    #: name of a task → number of its run, as the service has it
    runs: dict[str, int] = field(default_factory=dict)
    #: number of a run that the service no longer knows → rounds until its end
    cut_off: dict[int, int] = field(default_factory=dict)
    #: names of tasks that were cut off once
    was_cut: set[str] = field(default_factory=set)

    @property
    def splits(self) -> int:
        """How many runs may live on without the service's knowledge, so that another attempt begins."""
        return int(self.cut is not None)

    def now(self) -> float:
        """Unix time, by a replaceable clock."""
        return self.clock()

    def advance(self, preempts: Callable[[str], bool]) -> None:
        """One round: nodes come and go, and every task moves on by one state."""
        self.round += 1
        self.moment = f"{datetime.fromtimestamp(self.clock(), UTC):%Y-%m-%dT%H:%M:%SZ}"
        self.claims.forge(self.alive.values())
        for number in list(self.cut_off):
            self._live_on(number)
        if self.round == self.absence.start:
            self._lose_pool()
        if self.round % _EVALUATED == 0:
            self._resize()
        for name, task in list(self._tasks_by_priority()):
            if task["state"] == "running":
                self._go_on(name, task, is_preempted=preempts(name) and not self._requeues(task))
            elif task["state"] == "active" and self._idle() >= _size(task):
                self._start(name, task)

    def end(self, name: str, **facts: Any) -> None:
        """The service ends a task, and its processes on the node."""
        self.alive.pop(self.runs.pop(name, 0), None)
        info = self.task(name)["executionInfo"] | {"endTime": self.moment, **facts}
        self.task(name).update(state="completed", stateTransitionTime=self.moment, executionInfo=info)

    def records(self) -> list[str]:
        """Names of attempts that have left records."""
        # A recreated pool gets its nodes with the next job.
        return list(self.claims) if self.pool["autoScaleFormula"] else []

    def _carried_out(self, request: Request) -> Reply:
        if request.path.startswith(_POOL) and self.round in self.absence:
            is_first = self.round == self.absence.start and request.method == "POST"
            return (409, error("PoolBeingDeleted")) if is_first else (404, error("PoolNotFound"))
        if request.path == "/jobs" and self.round in self.absence:
            return 404, error("PoolNotFound")
        if request.method == "DELETE":
            self._removed(request.path.rpartition("/")[2])
        reply = super()._carried_out(request)
        if request.path == f"{_POOL}/enableautoscale":
            self._resize()
        return reply

    def _removed(self, name: str) -> None:
        """A deleted task ends."""
        self.alive.pop(self.runs.pop(name, 0), None)

    def _tasks_by_priority(self) -> Iterator[tuple[str, Task]]:
        for level in ("high", "normal", "low"):
            for queue in [queue for queue in self.jobs if queue.endswith(level)]:
                yield from list(self.jobs[queue].items())

    def _unfinished(self) -> list[Task]:
        return [task for _, task in self._tasks_by_priority() if task["state"] in _UNFINISHED]

    def _idle(self) -> int:
        return self.nodes - sum(_size(task) for task in self._unfinished() if task["state"] == "running")

    @staticmethod
    def _requeues(task: Task) -> int:
        return int(task["executionInfo"]["requeueCount"])

    def _resize(self) -> None:
        """Set the number of nodes by the formula; busy ones stay."""
        text = self.pool["autoScaleFormula"]
        if not text or self.round in self.absence:
            return
        pending = float(len(self._unfinished()))
        world = World({"PendingTasks": Samples([(0.0, pending)], lambda seconds: 0.0)}, self.clock())
        target = int(read(text).evaluate(world)["$TargetDedicatedNodes"])
        busy = self.nodes - self._idle()
        self.nodes = max(target, busy)
        self.pool |= {"targetDedicatedNodes": target, "currentDedicatedNodes": self.nodes}

    def _lose_pool(self) -> None:
        self.nodes = 0
        self.pool |= {"autoScaleFormula": "", "targetDedicatedNodes": 0, "currentDedicatedNodes": 0}
        for name, task in self._tasks_by_priority():
            if task["state"] == "running":
                self.alive.pop(self.runs.pop(name, 0), None)
                self._requeue(task)

    def _go_on(self, name: str, task: Task, *, is_preempted: bool) -> None:
        if is_preempted:  # a task loses all its nodes with one of them
            self.nodes -= 1
            self.pool["currentDedicatedNodes"] = self.nodes
            self.alive.pop(self.runs.pop(name, 0), None)
            self._requeue(task)
        elif self.cut and name.endswith("-1") and name not in self.was_cut:
            self._cut(name, task)
        else:
            self._complete(name, task)

    def _complete(self, name: str, task: Task) -> None:
        number = self.runs.pop(name, 0)
        try:
            code = self._finish(name, number) if self.alive.pop(number, None) else 0
        except NodeLost:
            self._requeue(task)
        else:
            self.end(name, exitCode=code, result="failure" if code else "success")

    def _cut(self, name: str, task: Task) -> None:
        self.was_cut.add(name)
        self.cut_off[self.runs.pop(name)] = self.lives
        if self.cut is Cut.REQUEUED:
            self._requeue(task)
        else:
            self.end(name, result="failure", failureInfo={"category": "servererror", "code": "NodeLost"})

    def _requeue(self, task: Task) -> None:
        info = {"retryCount": 0, "requeueCount": self._requeues(task) + 1}
        task.update(state="active", stateTransitionTime=self.moment, executionInfo=info)

    def _live_on(self, number: int) -> None:
        self.cut_off[number] -= 1
        if self.cut_off[number] < 0:
            del self.cut_off[number]
            if name := self.alive.pop(number, None):
                with suppress(NodeLost):
                    self._finish(name, number)

    def _finish(self, name: str, number: int) -> int:
        """End a run, and return the exit code of its program. Raises NodeLost."""
        self.finished.append(name)
        self.claims.end(name)
        return 0

    def _start(self, name: str, task: Task) -> None:
        """Start the program of a task, which checks whether it may run."""
        task["executionInfo"]["startTime"] = self.moment
        plan = json.loads({one["name"]: one["value"] for one in task["environmentSettings"]}[PLAN])
        if "attempts" in plan:
            for directory, *_ in plan["attempts"]:
                self.claims.pop(directory.rpartition("/")[2], None)
            self.end(name, exitCode=0, result="success")
            return
        try:
            code = self._refusal(name, task, plan) if self.fenced else None
        except NodeLost:
            self._requeue(task)
            return
        if code is not None:
            self.end(name, exitCode=code, result="failure" if code else "success")
            return
        task.update(state="running", stateTransitionTime=self.moment)
        self.runs[name] = self._begin(name)

    def _begin(self, name: str) -> int:
        """Begin a run, and return its number."""
        if attempts_of(name) in map(attempts_of, self.alive.values()):
            self.violations.append(f"{name} runs while another run of the job does")
        self.began.append(name)
        self.alive[len(self.began)] = name
        return len(self.began)

    def _refusal(self, name: str, task: Task, plan: Mapping[str, Any]) -> int | None:
        """The exit code of a copy that must not run; None if it may, in place of earlier runs."""
        earlier = [Earlier(before, token, reason, keys) for before, token, reason, *keys in plan["earlier"]]
        code = self.claims.take(name, plan["token"], "", plan["proof"], earlier)
        lost = {one for one in self.alive.values() if self.claims.has_lost(one)}
        self.alive = {
            n: one for n, one in self.alive.items() if one not in lost and (code is not None or one != name)
        }
        return code


def _size(task: Task) -> int:
    return int((task.get("multiInstanceSettings") or {}).get("numberOfInstances") or 1)
