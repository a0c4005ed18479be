"""Records as the API returns them. Pure."""

from datetime import datetime
from typing import Any

from local.azurebatch.run.node_directory import task_root
from local.azurebatch.state.models import PREPARATION, RELEASE, Job, Node, Pool, Record, Task
from local.azurebatch.state.moment import etag, stamp

View = dict[str, Any]

#: Members that a caller sends, and that no answer of the service holds.
_SECRETS = frozenset({"password", "accountKey", "sasKey", "sshPrivateKey", "protectedSettings"})


def without_secrets(content: Any) -> Any:
    """A document without the members that the service takes and never returns, at any depth."""
    if isinstance(content, dict):
        return {name: without_secrets(part) for name, part in content.items() if name not in _SECRETS}
    return [without_secrets(part) for part in content] if isinstance(content, (list, tuple)) else content


def pool_view(base: str, pool: Pool) -> View:
    """A pool with its sizes and states."""
    present = [node for node in pool.nodes if node.state != "leavingpool"]
    dedicated = sum(node.dedicated for node in present)
    view = {
        **_head(base, f"pools/{pool.id}", pool),
        "state": "deleting" if pool.deleting else "active",
        "stateTransitionTime": stamp(pool.since),
        "allocationState": pool.allocation,
        "allocationStateTransitionTime": stamp(pool.allocation_since),
        "resizeTimeout": pool.resize_timeout,
        "currentDedicatedNodes": dedicated,
        "targetDedicatedNodes": pool.dedicated,
        "currentLowPriorityNodes": len(present) - dedicated,
        "targetLowPriorityNodes": pool.spot,
        "enableAutoScale": pool.autoscale is not None,
        "enableInterNodeCommunication": False,
        "taskSlotsPerNode": 1,
        "taskSchedulingPolicy": {"nodeFillType": "spread"},
        **pool.document,
    }
    view["vmSize"] = str(view["vmSize"]).lower()
    if pool.resize_errors and pool.allocation == "steady":  # the service shows them at no other time
        view["resizeErrors"] = list(pool.resize_errors)
    if scale := pool.autoscale:
        del view["resizeTimeout"]
        view["autoScaleFormula"] = scale.formula
        view["autoScaleEvaluationInterval"] = scale.interval
        if scale.last is not None:
            view["autoScaleRun"] = run_view(scale.last, scale.results, scale.error)
    return view


def run_view(when: datetime, results: str, error: View | None) -> View:
    """An evaluation of a formula."""
    return {"timestamp": stamp(when), "results": results, **({"error": error} if error else {})}


def node_view(base: str, pool: Pool, node: Node, running: list[Task]) -> View:
    """A node, with its recent tasks."""
    view: View = {
        "id": node.id,
        "url": f"{base}/pools/{pool.id}/nodes/{node.id}",
        "state": node.shown_state,
        "schedulingState": "enabled" if node.takes_tasks else "disabled",
        "stateTransitionTime": stamp(node.since),
        "allocationTime": stamp(node.allocated),
        "ipAddress": node.address,
        "affinityId": f"TVM:{node.id}",
        "vmSize": str(pool.document["vmSize"]).lower(),
        "totalTasksRun": node.total_run,
        "totalTasksSucceeded": node.total_succeeded,
        "runningTasksCount": len(running),
        "runningTaskSlotsCount": sum(task.slots for task in running),
        "isDedicated": node.dedicated,
        "virtualMachineInfo": {
            "imageReference": pool.document["virtualMachineConfiguration"]["imageReference"]
        },
    }
    if node.booted:
        view["lastBootTime"] = stamp(node.booted)
        view["nodeAgentInfo"] = {"version": "1.0.0", "lastUpdateTime": stamp(node.booted)}
    if node.errors:
        view["errors"] = list(node.errors)
    if start := pool.document.get("startTask"):
        view["startTask"] = start
    if start or node.start_task:
        begun = {"state": "running", "startTime": stamp(node.since), "retryCount": 0}
        view["startTaskInfo"] = node.start_task or begun
    return view


def job_view(base: str, job: Job) -> View:
    """A job with its defaults and its execution."""
    execution = {"startTime": stamp(job.created), "poolId": job.document["poolInfo"]["poolId"]}
    if job.ended:
        execution["endTime"] = stamp(job.ended)
    if job.reason:
        execution["terminateReason"] = job.reason
    return {
        **_head(base, f"jobs/{job.id}", job),
        **_state(job),
        "priority": 0,
        "maxParallelTasks": -1,
        "usesTaskDependencies": False,
        "allowTaskPreemption": False,
        "onAllTasksComplete": "noaction",
        "onTaskFailure": "noaction",
        **job.document,
        "executionInfo": execution,
    }


def commands_view(base: str, job: Job, node: str) -> View:
    """The executions of a job's preparation and release on a node."""
    done = job.prepared[node]
    url = f"{base}/pools/{done['poolId']}/nodes/{node}"
    view = {"poolId": done["poolId"], "nodeId": node, "nodeUrl": url}
    for kind in (PREPARATION, RELEASE):
        if kind in done:
            root = task_root(job.id, job.document[kind]["id"])
            where = {"taskRootDirectory": root, "taskRootDirectoryUrl": f"{url}/files/{root}"}
            view[f"{kind}ExecutionInfo"] = {**done[kind], **where}
    return view


def task_view(base: str, job: Job, task: Task) -> View:
    """A task with its execution, and its node."""
    view = {
        **_head(base, f"jobs/{job.id}/tasks/{task.id}", task),
        **_state(task),
        "userIdentity": {"autoUser": {"scope": "pool", "elevationLevel": "nonadmin"}},
        "requiredSlots": 1,
        **task.document,
        "executionInfo": _execution(task),
    }
    if task.state == "running" and PREPARATION in job.document and task.nodes[0] not in job.prepared:
        view["state"] = "preparing"
    if task.nodes:
        view["nodeInfo"] = _place(base, job, task, task.nodes[0])
    return view


def subtask_view(base: str, job: Job, task: Task, number: int) -> View:
    """A subtask of a multi-instance task. The first number is 1."""
    code = task.subtasks[number - 1]
    root = _place(base, job, task, task.nodes[number])
    view: View = {
        "id": number,
        "nodeInfo": root,
        "state": "completed" if task.ended else "running",
        "stateTransitionTime": stamp(task.since),
    }
    if task.started:
        view["startTime"] = stamp(task.started)
    if task.ended:
        view["endTime"] = stamp(task.ended)
    if code is not None:
        view |= {"exitCode": code, "result": "failure" if code else "success"}
    return view


def _place(base: str, job: Job, task: Task, node: str) -> View:
    pool, root = job.document["poolInfo"]["poolId"], task_root(job.id, task.id)
    url = f"{base}/pools/{pool}/nodes/{node}"
    return {
        "affinityId": f"TVM:{node}",
        "nodeUrl": url,
        "poolId": pool,
        "nodeId": node,
        "taskRootDirectory": root,
        "taskRootDirectoryUrl": f"{url}/files/{root}",
    }


def _execution(task: Task) -> View:
    view: View = {}
    for name, moment in (
        ("startTime", task.started),
        ("endTime", task.ended),
        ("lastRetryTime", task.retried),
        ("lastRequeueTime", task.requeued),
    ):
        if moment is not None:
            view[name] = stamp(moment)
    if task.exit_code is not None:
        view["exitCode"] = task.exit_code
    if task.failure:
        view["failureInfo"] = task.failure
    if task.state == "completed":
        view["result"] = "success" if task.succeeded else "failure"
    return view | {"retryCount": task.retries, "requeueCount": task.requeues}


def _head(base: str, path: str, record: Record) -> View:
    return {
        "id": record.id,
        "url": f"{base}/{path}",
        "eTag": etag(record.version),
        "lastModified": stamp(record.version),
        "creationTime": stamp(record.created),
    }


def _state(record: Job | Task) -> View:
    view = {"state": record.state, "stateTransitionTime": stamp(record.since)}
    if record.previous and record.previous_since:
        view["previousState"] = record.previous
        view["previousStateTransitionTime"] = stamp(record.previous_since)
    return view
