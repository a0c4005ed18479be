"""A Batch account with jobs, tasks and one pool, as far as the engine uses them, for tests at the wire."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from shared.core.engine import Order
from shared.core.job import Target
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.engine import BatchEngine
from shared.engines.batch.wire.sign import SharedKey
from shared.engines.proofs import Proofs
from tests.unit.engines.batch.account import Account, Reply, Request, account, error

KEY = SharedKey("acct", b"0123456789abcdef0123456789abcdef")
_TIME = re.compile(r"stateTransitionTime ge DateTime'([^']+)'")
_TASK = re.compile(r"/jobs/([^/]+)/tasks(?:/([^/]+)(/terminate)?)?")


#: Of a task, below the directory of all tasks.
_ROOT = "workitems/slipway-gpu-normal/job-1/digits-abc-1"


@dataclass
class Service:
    """What the account holds. `fail` answers a request before it is carried out, `lose` after it."""

    pool: dict[str, Any] = field(
        default_factory=lambda: {
            "id": "t4",
            "vmSize": "Standard_NC4as_T4_v3",
            "allocationState": "steady",
            "currentDedicatedNodes": 0,
            "enableAutoScale": True,
            "autoScaleFormula": "",
        }
    )
    counts: dict[str, Any] = field(default_factory=dict)
    failed: list[dict[str, Any]] = field(default_factory=list)
    jobs: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    #: the state of a Batch job that is not active
    states: dict[str, str] = field(default_factory=dict)
    fail: dict[str, Reply | None] = field(default_factory=dict)
    lose: set[str] = field(default_factory=set)
    evaluation: dict[str, Any] = field(default_factory=dict)
    #: when tasks change their state
    moment: str = "2026-09-07T12:00:00Z"
    account: Account | None = None

    def answer(self, request: Request) -> Reply | None:
        key = f"{request.method} {request.path}"
        if key in self.fail:
            return self.fail[key]
        reply = self._carried_out(request)
        return None if key in self.lose else reply

    def task(self, name: str) -> dict[str, Any]:
        (task,) = [tasks[name] for tasks in self.jobs.values() if name in tasks]
        return task

    def end(self, name: str, **facts: Any) -> None:
        """The task has ended; `facts` are of its executionInfo."""
        times = {"startTime": "2026-09-07T12:00:00Z", "endTime": "2026-09-07T12:01:00Z"}
        info = {"retryCount": 0, "requeueCount": 0, **times, **facts}
        self.task(name).update(
            state="completed", stateTransitionTime="2026-09-07T12:01:00Z", executionInfo=info
        )

    def calls(self, method: str = "") -> list[str]:
        assert self.account is not None
        return [call for call in self.account.calls if call.startswith(method)]

    def _carried_out(self, request: Request) -> Reply:
        if match := _TASK.fullmatch(request.path):
            return self._tasks(request, *match.groups())
        if request.path == "/jobs" and request.method == "GET":
            states = [{"id": name, "state": self.states.get(name, "active")} for name in self.jobs]
            return 200, {"value": states}
        if request.path == "/jobs":
            name = request.body["id"]
            if name in self.jobs:
                return 409, error("JobExists")
            self.jobs[name] = {}
            return 201, None
        if request.path == "/nodecounts":
            return 200, {"value": [{"poolId": "t4", **self.counts}] if self.counts else []}
        if request.path == "/pools/t4/nodes":
            return 200, {"value": self.failed}
        if request.path.endswith("/subtasksinfo"):
            return 200, {"value": [{"id": 1, "nodeInfo": {"nodeId": "n2", "taskRootDirectory": _ROOT}}]}
        if request.path.endswith(("/reboot", "/removenodes")):
            return 202, None
        if request.path == "/pools/t4":
            return 200, self.pool
        if request.path == "/pools/t4/enableautoscale":
            self.pool |= {"enableAutoScale": True, **request.body}
            return 200, None
        assert request.path == "/pools/t4/evaluateautoscale"
        return 200, {"timestamp": "2026-09-07T12:00:00Z", "results": "", **self.evaluation}

    def _tasks(self, request: Request, job: str, name: str | None, end: str | None) -> Reply:
        if job not in self.jobs:
            return 404, error("JobNotFound")
        tasks = self.jobs[job]
        if name is None and request.method == "POST":
            if request.body["id"] in tasks:
                return 409, error("TaskExists")
            info = {"retryCount": 0, "requeueCount": 0}
            times = {
                "stateTransitionTime": self.moment,
                "nodeInfo": {"nodeId": "n1", "taskRootDirectory": _ROOT},
            }
            tasks[request.body["id"]] = {**request.body, **times, "state": "active", "executionInfo": info}
            return 201, None
        if name is None:
            return 200, {
                "value": [_selected(one, request) for one in tasks.values() if _listed(one, request)]
            }
        if name not in tasks:
            return 404, error("TaskNotFound")
        if end and tasks[name]["state"] == "completed":
            return 409, error("TaskCompleted")
        if end:
            ended = {
                "category": "usererror",
                "code": "TaskEnded",
                "message": "Task Was Ended by User Request",
            }
            self.end(name, failureInfo=ended, result="failure")
            return 204, None
        if request.method == "DELETE":
            del tasks[name]
            return 200, None
        return 200, _selected(tasks[name], request)


def _listed(task: dict[str, Any], request: Request) -> bool:
    words = request.query["$filter"]
    since = _TIME.search(words)
    late = since is not None and task["stateTransitionTime"] >= since[1]
    return f"state eq '{task['state']}'" in words or late


def _selected(task: dict[str, Any], request: Request) -> dict[str, Any]:
    return {name: task[name] for name in request.query["$select"].split(",") if name in task}


CLUSTER = BatchCluster(
    "gpu",
    url="http://127.0.0.1",
    pool="t4",
    shared="/mnt/batch/tasks/fsmounts/slipway",
    max_nodes=4,
    gpus=1,
)


@asynccontextmanager
async def engine(
    service: Service, now: float | list[float] = 0.0, proofs: Proofs | None = None, **options: Any
) -> AsyncIterator[BatchEngine]:
    """An engine for the cluster `gpu`, whose account the service is; `now` may be a list that changes."""
    async with account(service.answer, strict=True) as running:
        service.account = running
        values = {name: getattr(CLUSTER, name) for name in ("pool", "shared", "max_nodes", "gpus")}
        cluster = BatchCluster("gpu", **{**values, "url": running.url, **options})
        result = BatchEngine(
            {"gpu": cluster},
            {"gpu": KEY},
            clock=lambda: now[0] if isinstance(now, list) else now,
            proofs=proofs,
        )
        try:
            yield result
        finally:
            await result.close()


def order(name: str = "digits-abc-1", token: str = "j_abc.1", **properties: Any) -> Order:
    """An order for the cluster, on one node unless it says otherwise."""
    target = Target(engine="batch", cluster="gpu", experiment="exp", name=name, token=token)
    document = {
        "cluster": {"id": "/clusters/gpu"},
        "nodeCount": 1,
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        "customToolkitSettings": {"commandLine": "echo one"},
        **properties,
    }
    return Order(target, {"properties": document})
