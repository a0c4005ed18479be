"""The model's nodes without a shared directory: the real program keeps their claims and records in blobs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from shared.engines.launch.plan import SUBMISSION
from shared.engines.node import blobs, claim
from shared.engines.node.blobs import Answer, Blobs
from shared.engines.node.claim import MOVED, Claim, Silent
from shared.engines.node.ends import NOT_READY
from shared.engines.node.proof import Proof
from tests.crash.batch.container import Container
from tests.crash.batch.nodes import Azure, NodeLost, Task

_ENDED_WELL: Mapping[str, Any] = {
    "state": "ended",
    "reason": "",
    "message": "",
    "final": True,
    "code": 0,
    "exitCode": 0,
    "directories": {},
    "hosts": [],
}


class NodeFault(StrEnum):
    """What happens to one request of the program on a node."""

    LOST = "it works, its answer is lost"
    BUSY = "503 ServerBusy"
    TIMED_OUT = "500 OperationTimedOut, and it works"
    TAKEN_BEFORE = "the node is taken away before it"
    TAKEN_AFTER = "the node is taken away after it"
    RIVAL = "before it, another node begins with the same task"
    FORGED = "before it, another job writes that every attempt has ended well"


class _Node(blobs.Container):
    """One run of the program, as the container's client."""

    def __init__(self, where: dict[str, str], model: BlobAzure, work: Work) -> None:
        super().__init__(where)
        self._model, self._work, self._is_there = model, work, True

    def _call(
        self, method: str, name: str, query: dict[str, str], headers: dict[str, str], body: bytes
    ) -> Answer:
        fault = self._model.fault(f"{method} {name or query}") if self._is_there else NodeFault.TAKEN_BEFORE
        self._is_there = fault not in (NodeFault.TAKEN_BEFORE, NodeFault.TAKEN_AFTER)
        if fault is NodeFault.TAKEN_BEFORE:
            raise NodeLost
        if fault is NodeFault.BUSY:
            return Answer(503, {"x-ms-error-code": "ServerBusy"}, b"")
        if fault is NodeFault.RIVAL:
            self._model.rival(self._work)
        if fault is NodeFault.FORGED:
            self._model.forge()
        answer = self._model.container.answer(method, name, query, headers, body)
        if fault is NodeFault.TAKEN_AFTER:
            raise NodeLost
        if fault is NodeFault.LOST:
            raise ConnectionResetError
        return Answer(500, {}, b"") if fault is NodeFault.TIMED_OUT else answer


@dataclass(frozen=True)
class Work:
    """A task, and the plan of its program."""

    name: str
    task: Task
    plan: Mapping[str, Any]


@dataclass
class BlobAzure(Azure):
    """The account, whose nodes have a container. `node_faults`: number of a node's request → its fault."""

    container: Container = field(default_factory=Container)
    node_faults: Mapping[int, NodeFault] = field(default_factory=dict)
    #: whether the service gives up a task whose node is taken away while it runs; otherwise it waits again
    gives_up: bool = False
    #: the nodes' requests
    stored: list[str] = field(default_factory=list)
    #: number of a run → its claim
    held: dict[int, Claim] = field(default_factory=dict)
    works: dict[int, Work] = field(default_factory=dict)
    seconds: float = 0.0
    _newest: tuple[Claim, Work] | None = None

    @property
    def splits(self) -> int:
        """Also counts tasks that a second node begins, and tasks that are given up with their node."""
        return super().splits + self.gives_up + list(self.node_faults.values()).count(NodeFault.RIVAL)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """In the block, the program on the nodes uses the model's clock, on which a wait takes no time."""
        for module in (blobs, claim):
            vars(module)["time"] = self
        try:
            yield
        finally:
            for module in (blobs, claim):
                vars(module)["time"] = time

    def time(self) -> float:
        """Replaces `time.time`."""
        return self.seconds

    def sleep(self, seconds: float) -> None:
        """Replaces `time.sleep`: meanwhile, other runs check their claims."""
        self.seconds += seconds
        self._look_at_claims()

    def fault(self, call: str) -> NodeFault | None:
        """The fault of a request, if it has one."""
        self.stored.append(call)
        return self.node_faults.get(len(self.stored))

    def _requeue(self, task: Task) -> None:
        if self.gives_up:
            self.end(
                task["id"], result="failure", failureInfo={"category": "servererror", "code": "NodeLost"}
            )
        else:
            super()._requeue(task)

    def rival(self, work: Work) -> None:
        """A second node begins the task, which the service has forgotten."""
        with suppress(NodeLost):
            if self._refusal(work.name, work.task, work.plan) is None:
                self.cut_off[self._begin(work.name)] = self.lives

    def forge(self) -> None:
        """Write what a job can that may write into the container: over records, and as the next turns."""
        attempts = {name.partition("/turns/")[0] for name in self.container.blobs if "/turns/" in name}
        for place in attempts | {json.loads(work.plan["records"])["prefix"] for work in self.works.values()}:
            ended = {**_ENDED_WELL, "run": "forged"}
            for number in range(1, 9):
                content = {"token": self._token(place), "ended": ended}
                self.container.blobs.setdefault(f"{place}/turns/{number}", json.dumps(content).encode())
        for name in [name for name in self.container.blobs if name.endswith("/result.json")]:
            self.container.blobs[name] = json.dumps(_ENDED_WELL).encode()

    def _token(self, place: str) -> str:
        job, _, attempt = place.rpartition("/")[2].rpartition("-")
        return next((one.plan["token"] for one in self.works.values() if one.name == f"{job}-{attempt}"), "x")

    def advance(self, preempts: Callable[[str], bool]) -> None:
        """Check every run's claim, then advance as without a container."""
        self._look_at_claims()
        super().advance(preempts)

    def records(self) -> list[str]:
        """Names of attempts that have left records."""
        return sorted({name.split("/")[3] for name in self.container.blobs if "/attempts/" in name})

    def _begin(self, name: str) -> int:
        number = super()._begin(name)
        assert self._newest is not None
        self.held[number], self.works[number] = self._newest
        return number

    def _refusal(self, name: str, task: Task, plan: Mapping[str, Any]) -> int | None:
        work, where = Work(name, task, plan), json.loads(plan["records"])
        place = Blobs(_Node(where, self, work), where["prefix"], Proof(plan["proof"]))
        variables = {one["name"]: one["value"] for one in task["environmentSettings"]}
        own = Claim(place, plan["token"], variables[SUBMISSION])
        code = self._claimed(own, plan)
        self._newest = (own, work)
        return code

    def _claimed(self, own: Claim, plan: Mapping[str, Any]) -> int | None:
        """What `run.py` does before it starts a process; the exit code if it starts none."""
        try:
            own.take([f"node{len(self.stored)}"])
            record = own.take_from(plan["earlier"])
            own.record(record or {"state": "running", "final": False})
            if record is None and own.is_held():  # it checks first long before others stop waiting
                return None
        except Silent as silent:
            return silent.code
        except OSError:
            return NOT_READY
        own.leave()
        return int(record.get("code", 0)) if record else MOVED

    def _finish(self, name: str, number: int) -> int:
        own = self.held[number]
        try:
            own.record(dict(_ENDED_WELL))
        except Silent as silent:
            return silent.code
        except OSError:
            return NOT_READY
        finally:
            if self._has_ended(name, own.run):
                self.finished.append(name)
            own.leave()
        return 0

    def _has_ended(self, name: str, run: str) -> bool:
        """Whether the container has the record of this run's end."""
        turns = [json.loads(value) for at, value in self.container.blobs.items() if f"/{name}/turns/" in at]
        return run in [one["ended"]["run"] for one in turns if "ended" in one]  # no forged one names it

    def _look_at_claims(self) -> None:
        """Each run checks its claim, and ends if it has lost it."""
        for number in [number for number in self.alive if number in self.held]:
            own, name = self.held[number], self.alive[number]
            is_known = self.runs.get(name) == number
            try:
                if own.is_held() or number not in self.alive:
                    continue
                del self.alive[number]
                own.leave()
            except NodeLost:
                self.alive.pop(number, None)
                if is_known:
                    del self.runs[name]
                    self._requeue(self.task(name))
                continue
            if is_known:
                del self.runs[name]
                self.end(name, exitCode=MOVED, result="failure")
