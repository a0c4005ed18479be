"""Operations on jobs."""

from typing import Any

from aiohttp import web

from local.azurebatch.api import bodies, job_bodies
from local.azurebatch.api.odata import page, page_of, selected
from local.azurebatch.api.views import View, commands_view, job_view
from local.azurebatch.api.wire import Call, check_conditions, document, done, versions_of
from local.azurebatch.run.changes import moved_job
from local.azurebatch.state.errors import conflict, invalid, lacking
from local.azurebatch.state.models import PREPARATION, RELEASE, Job

#: The service returns this id, not the job's own, after it creates or changes one.
_LOCATION = "/jobs/job-1"

#: The first version that counts slots, beside the tasks; older ones answer with the counts of tasks alone.
_SLOTS_SINCE = "2020-09-01.12.0"


async def add(call: Call) -> web.StreamResponse:
    """Create a job. Its pool may be created later."""
    body = bodies.read(job_bodies.NewJob, call.body)
    present = call.store.jobs.get(body.id.lower())
    if present is not None:
        if present.state == "deleting":
            raise conflict("JobBeingDeleted", "The specified job is being deleted.")
        raise conflict("JobExists", "The specified job already exists.")
    bodies.check_duration(body.constraints.max_wall_clock_time, "maxWallClockTime")
    _check_parallel(body)
    now = call.emulator.clock()
    content = bodies.shown(body)
    content["constraints"] = body.constraints.model_dump(by_alias=True)
    content |= _commands(body)
    del content["id"]
    job = Job(
        id=body.id,
        sequence=call.store.next_sequence(),
        created=now,
        version=now,
        document=content,
        pool=body.pool_info.pool_id.lower(),
        since=now,
    )
    call.store.save(job)
    call.emulator.conductor.jobs.complete(job)  # a job without tasks counts as one whose tasks have ended
    call.emulator.conductor.nudge()
    return done(call, 201, job, _LOCATION)


def _check_parallel(body: job_bodies.JobPatch) -> None:
    if body.max_parallel_tasks == 0:
        raise invalid("maxParallelTasks", "0", "The value is -1, or greater than 0")


def _commands(body: job_bodies.NewJob) -> dict[str, Any]:
    """The commands of a job on its nodes, with their defaults. Raises BatchError."""
    preparation, release = body.job_preparation_task, body.job_release_task
    if release and not preparation:
        raise invalid(RELEASE, "", "A job with a release task needs a preparation task, too")
    if release:
        bodies.check_duration(release.max_wall_clock_time, "maxWallClockTime")
        bodies.check_duration(release.retention_time, "retentionTime")
        if preparation and release.id.lower() == preparation.id.lower():
            raise invalid(RELEASE, release.id, "The preparation of the job has this id")
    if preparation:
        bodies.check_duration(preparation.constraints.max_wall_clock_time, "maxWallClockTime")
    named = {PREPARATION: preparation, RELEASE: release}
    present = {name: one for name, one in named.items() if one is not None}
    for one in present.values():
        bodies.check_files("resourceFiles", one.resource_files)
    return {name: one.model_dump(by_alias=True, exclude_none=True) for name, one in present.items()}


async def get(call: Call) -> web.StreamResponse:
    """One job."""
    job = call.store.job(call.names["job"])
    check_conditions(call.request, job)
    return document(call, "jobs/@Element", selected(call, _view(call, job)), versions_of(job))


async def every(call: Call) -> web.StreamResponse:
    """All jobs."""
    return page(call, "jobs", call.store.jobs.values(), lambda job: _view(call, job))


async def patch(call: Call) -> web.StreamResponse:
    """Change the members in the body."""
    job = _alive(call)
    body = bodies.read(job_bodies.JobPatch, call.body)
    return _changed(call, job, body, job.document)


async def update(call: Call) -> web.StreamResponse:
    """Replace the changeable members. Missing ones get the defaults of a new job."""
    job = _alive(call)
    body = bodies.read(job_bodies.JobPatch, call.body)
    if body.pool_info is None:
        raise lacking("poolInfo")
    changeable = {"priority", "allowTaskPreemption", "maxParallelTasks", "onAllTasksComplete", "metadata"}
    unchanged = {name: value for name, value in job.document.items() if name not in changeable}
    return _changed(
        call, job, body, unchanged | {"constraints": job_bodies.JobConstraints().model_dump(by_alias=True)}
    )


def _changed(call: Call, job: Job, body: job_bodies.JobPatch, unchanged: dict[str, object]) -> web.Response:
    content = {**unchanged, **bodies.shown(body)}
    pool = job.pool
    _check_parallel(body)
    if "constraints" in body.model_fields_set:
        bodies.check_duration(body.constraints.max_wall_clock_time, "maxWallClockTime")
        content["constraints"] = body.constraints.model_dump(by_alias=True)
    if body.pool_info:
        if job.state != "disabled" and body.pool_info.pool_id.lower() != job.pool:
            raise conflict("JobNotDisabled", "The specified operation is allowed on disabled jobs only.")
        pool = body.pool_info.pool_id.lower()
    changed = job.evolve(document=content, pool=pool, version=call.emulator.clock())
    call.store.save(changed)
    call.emulator.conductor.jobs.complete(changed)
    call.emulator.conductor.nudge()
    return done(call, 200, changed, _LOCATION)


async def terminate(call: Call) -> web.StreamResponse:
    """End a job and its running tasks."""
    job = _alive(call)
    reason = bodies.read(job_bodies.Terminate, call.body).terminate_reason
    call.emulator.conductor.jobs.terminate(job, reason)
    call.emulator.conductor.nudge()
    return done(call, 202, job, _LOCATION)


async def delete(call: Call) -> web.StreamResponse:
    """End and delete a job with its tasks."""
    job = call.store.job(call.names["job"])
    check_conditions(call.request, job)
    if job.state == "deleting":
        raise conflict("JobBeingDeleted", "The specified job is being deleted.")
    call.emulator.conductor.jobs.delete(job)
    call.emulator.conductor.nudge()
    return done(call, 202)


async def disable(call: Call) -> web.StreamResponse:
    """Start no more tasks of a job."""
    job = _alive(call)
    option = bodies.read(job_bodies.Disable, call.body).disable_tasks
    if job.state == "active":
        call.emulator.conductor.jobs.disable(job, option)
        call.emulator.conductor.nudge()
    return done(call, 202, job, _LOCATION)


async def enable(call: Call) -> web.StreamResponse:
    """Start tasks of a job again."""
    job = _alive(call)
    if job.state != "active":
        call.store.save(moved_job(job, "active", call.emulator.clock()))
        call.emulator.conductor.nudge()
    return done(call, 202, job, _LOCATION)


async def counts(call: Call) -> web.StreamResponse:
    """How many tasks a job has in each state, and how many slots they take."""
    job = call.store.job(call.names["job"])
    names = ("active", "running", "completed", "succeeded", "failed")
    tasks, slots = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for task in call.store.tasks[job.key].values():
        names_of_counts: list[str] = [task.state]
        if task.state == "completed":
            names_of_counts.append("succeeded" if task.succeeded else "failed")
        for name in names_of_counts:
            tasks[name] += 1
            slots[name] += task.slots
    if call.version < _SLOTS_SINCE:
        shown = call.as_of("TaskCounts", {**tasks, "validationStatus": "validated"})
        return document(call, "taskcounts/@Element", shown)
    return document(call, "taskcountsresult/@Element", {"taskCounts": tasks, "taskSlotCounts": slots})


async def commands(call: Call) -> web.StreamResponse:
    """The executions of the preparation and the release of a job, node by node."""
    job = call.store.job(call.names["job"])
    if PREPARATION not in job.document:
        message = "The specified job does not have either job preparation task or job release task."
        raise conflict("JobPreparationTaskOrReleaseTaskNotSpecified", message)
    nodes = enumerate(job.prepared, 1)
    kind = "jobpreparationandreleasetaskstatuslist"
    return page_of(
        call, kind, nodes, lambda node: call.as_of("JobCommands", commands_view(call.base, job, node))
    )


def _view(call: Call, job: Job) -> View:
    return call.as_of("Job", job_view(call.base, job))


def _alive(call: Call) -> Job:
    """The job of the path, if it has not ended. Raises BatchError."""
    job = call.store.job(call.names["job"])
    check_conditions(call.request, job)
    refuse_ended(job)
    return job


def refuse_ended(job: Job) -> None:
    """Refuse changes to a job that is ending or has ended. Raises BatchError."""
    if job.state == "deleting":
        raise conflict("JobBeingDeleted", "The specified job is being deleted.")
    if job.state == "terminating":
        raise conflict("JobBeingTerminated", "The specified job is being terminated.")
    if job.state == "completed":
        raise conflict("JobCompleted", "The specified job is already in a completed state.")
