"""Operations on tasks."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from aiohttp import web

from local.azurebatch.api import bodies, job_bodies
from local.azurebatch.api.jobs import refuse_ended
from local.azurebatch.api.odata import page, selected
from local.azurebatch.api.views import View, subtask_view, task_view
from local.azurebatch.api.wire import Call, check_conditions, document, done, versions_of
from local.azurebatch.run.changes import moved
from local.azurebatch.service.check import read_body
from local.azurebatch.state.errors import BatchError, conflict, invalid
from local.azurebatch.state.models import PREPARATION, RELEASE, Job, Task
from local.azurebatch.state.moment import etag, stamp

#: The most bytes of a collection of tasks.
_MOST_BYTES = 1 << 20
#: The most characters of the ids of all tasks that a task depends on.
_MOST_OF_IDS = 64_000


async def add(call: Call) -> web.StreamResponse:
    """Create a task."""
    job = call.store.job(call.names["job"])
    refuse_ended(job)
    task = _new(call, job, call.body)
    call.store.save(task)
    call.emulator.conductor.nudge()
    return done(call, 201, task, f"/jobs/{job.id}/tasks/{task.id}")


async def add_many(call: Call) -> web.StreamResponse:
    """Create up to 100 tasks. Each has a result of its own."""
    job = call.store.job(call.names["job"])
    refuse_ended(job)
    if len(await call.request.read()) > _MOST_BYTES:
        message = "The size of the request body exceeds the maximum size permitted."
        raise BatchError(413, "RequestBodyTooLarge", message)
    new_tasks: dict[str, Task] = {}
    results = []
    for body in call.body["value"]:
        try:
            task = _new(call, job, read_body("TaskCreate", call.version, body))
            if task.key in new_tasks:
                raise conflict("TaskExists", "The specified task already exists.")
        except BatchError as error:
            results.append(_refused(body, error))
        else:
            new_tasks[task.key] = task
            results.append(_added(call, job, task))
    call.store.save(*new_tasks.values())
    call.emulator.conductor.nudge()
    return document(call, "taskaddresult", {"value": results})


def _added(call: Call, job: Job, task: Task) -> dict[str, Any]:
    return {
        "status": "Success",
        "taskId": task.id,
        "eTag": etag(task.version),
        "lastModified": stamp(task.version),
        "location": f"{call.base}/jobs/{job.id}/tasks/{task.id}",
    }


def _refused(body: Any, error: BatchError) -> dict[str, Any]:
    values = [{"key": key, "value": value} for key, value in error.values.items()]
    shown = {"code": error.code, "message": {"lang": "en-US", "value": error.message}}
    name = body.get("id") if isinstance(body, Mapping) else None
    return {
        "status": "ClientError" if error.status < 500 else "ServerError",
        "taskId": str(name or ""),
        "error": {**shown, "values": values} if values else shown,
    }


def _new(call: Call, job: Job, body_of_task: Mapping[str, Any]) -> Task:
    """The task that the body describes. Raises BatchError."""
    body = bodies.read(job_bodies.NewTask, body_of_task)
    if body.id.lower() in call.store.tasks[job.key]:
        raise conflict("TaskExists", "The specified task already exists.")
    _check_own_id(body.id, job)
    bodies.check_files("resourceFiles", body.resource_files)
    _check_durations(body.constraints)
    if body.depends_on and not job.document.get("usesTaskDependencies"):
        message = "The task depends on others, but usesTaskDependencies of its job is not true."
        raise conflict("TaskDependenciesNotSpecifiedOnJob", message)
    gang = body.multi_instance_settings
    if gang:
        bodies.check_files("commonResourceFiles", gang.common_resource_files)
        if body.required_slots != 1:
            raise invalid("requiredSlots", str(body.required_slots), "A multi-instance task needs one slot")
    if body.container_settings:
        _check_container(body)
    content = bodies.shown(body)
    del content["id"]
    content["constraints"] = _constraints(body.constraints, job)
    if body.depends_on:
        content["dependsOn"] = _dependencies(body.depends_on)
    now = call.emulator.clock()
    return Task(
        id=body.id,
        sequence=call.store.next_sequence(),
        created=now,
        version=now,
        document=content,
        job=job.key,
        since=now,
    )


def _dependencies(dependencies: job_bodies.Dependencies) -> dict[str, Any]:
    """The tasks that must end first, with ranges that overlap or repeat as one. Raises BatchError."""
    if sum(map(len, dependencies.task_ids)) > _MOST_OF_IDS:
        message = "The total length of the task ids in the dependency list is greater than the maximum."
        raise BatchError(400, "TaskDependencyListTooLong", message)
    merged = list[dict[str, int]]()
    for span in sorted(dependencies.task_id_ranges, key=lambda one: one.start):
        if span.end < span.start:
            raise invalid("taskIdRanges", f"{span.start}-{span.end}", "The end is less than the start")
        if merged and span.start <= merged[-1]["end"] + 1:
            merged[-1]["end"] = max(merged[-1]["end"], span.end)
        else:
            merged.append({"start": span.start, "end": span.end})
    return bodies.shown(dependencies) | ({"taskIdRanges": merged} if merged else {})


def _check_own_id(name: str, job: Job) -> None:
    """Refuse the id of the job's preparation or release, whose directory a task would share."""
    for member, code in ((PREPARATION, "Preparation"), (RELEASE, "Release")):
        if member in job.document and job.document[member]["id"].lower() == name.lower():
            message = f"The specified task has the id of the job's {code.lower()} task."
            raise conflict(f"TaskIdSameAsJob{code}Task", message)


def _check_container(body: job_bodies.NewTask) -> None:
    if body.multi_instance_settings:
        raise invalid("containerSettings", "", "This emulator runs a container on one node only")
    if not body.command_line.strip():
        raise invalid("commandLine", "", "This emulator starts no ENTRYPOINT of an image: name the command")


def _check_durations(constraints: job_bodies.TaskConstraints) -> None:
    bodies.check_duration(constraints.max_wall_clock_time, "maxWallClockTime")
    bodies.check_duration(constraints.retention_time, "retentionTime")


def _constraints(body_of_task: job_bodies.TaskConstraints, job: Job) -> dict[str, Any]:
    tries = body_of_task.max_task_retry_count
    if tries is None:
        tries = job.document["constraints"]["maxTaskRetryCount"]
    return body_of_task.model_dump(by_alias=True) | {"maxTaskRetryCount": tries}


async def get(call: Call) -> web.StreamResponse:
    """One task."""
    job, task = _task(call)
    view = selected(call, _view(call, job, task))
    return document(call, "tasks/@Element", view, versions_of(task))


async def every(call: Call) -> web.StreamResponse:
    """All tasks of a job."""
    job = call.store.job(call.names["job"])
    tasks = call.store.tasks[job.key].values()
    return page(call, "tasks", tasks, lambda task: _view(call, job, task))


async def update(call: Call) -> web.StreamResponse:
    """Change the constraints of a task."""
    job, task = _task(call)
    if task.state == "completed":
        raise _completed()
    body = bodies.read(job_bodies.ReplaceTask, call.body)
    _check_durations(body.constraints)
    content = {**task.document, "constraints": _constraints(body.constraints, job)}
    changed = task.evolve(document=content, version=call.emulator.clock())
    call.store.save(changed)
    return done(call, 200, changed)


async def delete(call: Call) -> web.StreamResponse:
    """Delete a task; a running one is ended first."""
    _, task = _task(call)
    call.store.forget(task)
    call.emulator.conductor.release(task)
    return done(call, 200)


async def terminate(call: Call) -> web.StreamResponse:
    """End a task."""
    _, task = _task(call)
    if task.state == "completed":
        raise _completed()
    call.emulator.conductor.jobs.terminate_task(task)
    return done(call, 204, task)


async def reactivate(call: Call) -> web.StreamResponse:
    """Run a failed task again."""
    job, task = _task(call)
    refuse_ended(job)
    if task.state != "completed" or task.succeeded:
        raise conflict("TaskNotReactivatable", "Only completed tasks that have failed can be reactivated.")
    again = moved(
        task, "active", call.emulator.clock(), ended=None, exit_code=None, failure=None, retries=0, nodes=()
    )
    call.store.save(again.evolve(version=call.emulator.clock()))
    call.emulator.conductor.nudge()
    return done(call, 204, again)


async def subtasks(call: Call) -> web.StreamResponse:
    """The subtasks of a multi-instance task."""
    job, task = _task(call)
    views = (subtask_view(call.base, job, task, number) for number in range(1, len(task.nodes)))
    shown = [selected(call, call.as_of("Subtask", one)) for one in views]
    return document(call, "subtasks", {"value": shown})


def _view(call: Call, job: Job, task: Task) -> View:
    return call.as_of("Task", task_view(call.base, job, task))


def _completed() -> BatchError:
    return conflict("TaskCompleted", "The specified task is already in a completed state.")


class _JobTask(NamedTuple):
    """A task and its job."""

    job: Job
    task: Task


def _task(call: Call) -> _JobTask:
    job = call.store.job(call.names["job"])
    task = call.store.task(job.id, call.names["task"])
    check_conditions(call.request, task)
    return _JobTask(job, task)
