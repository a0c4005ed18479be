"""The state changes of tasks and jobs. Pure."""

from datetime import datetime
from typing import Any

from local.azurebatch.run.endings import Ending, ended_by
from local.azurebatch.state.models import Job, JobState, Task


def moved(task: Task, state: str, now: datetime, **changes: Any) -> Task:
    """The task in another state."""
    return task.evolve(state=state, since=now, previous=task.state, previous_since=task.since, **changes)


def moved_job(job: Job, state: JobState, now: datetime, **changes: Any) -> Job:
    """The job in another state."""
    return job.evolve(state=state, since=now, previous=job.state, previous_since=job.since, **changes)


def started(task: Task, pool: str, nodes: tuple[str, ...], attempt: str, now: datetime) -> Task:
    """The task has nodes, and runs."""
    clean = {"ended": None, "exit_code": None, "failure": None}
    subtasks = (None,) * (len(nodes) - 1)
    return moved(
        task, "running", now, started=now, pool=pool, nodes=nodes, attempt=attempt, subtasks=subtasks, **clean
    )


def requeued(task: Task, now: datetime) -> Task:
    """The task lost its node and waits for another, without using up a retry."""
    return moved(task, "active", now, requeues=task.requeues + 1, requeued=now, attempt="", nodes=())


def ended(task: Task, ending: Ending, now: datetime) -> Task:
    """The processes of the task have ended: it is completed, or runs again."""
    if ending.lost:
        return requeued(task, now)
    bad = ending.exit_code != 0
    if bad and ending.exit_code is not None and task.max_retries not in range(task.retries + 1):
        return moved(task, "active", now, retries=task.retries + 1, retried=now, attempt="", nodes=())
    return moved(
        task,
        "completed",
        now,
        ended=now,
        exit_code=ending.exit_code,
        failure=ending.failure,
        subtasks=ending.subtasks,
    )


def terminated(task: Task, now: datetime) -> Task:
    """A caller has ended the task."""
    return moved(task, "completed", now, ended=now, failure=ended_by(user=True))


def job_action(job: Job, task: Task) -> str:
    """What the end of a task does to its job: none, disable or terminate."""
    if job.document.get("onTaskFailure") != "performexitoptionsjobaction":
        return "none"
    return str(exit_options(task).get("jobAction", "none"))


def exit_options(task: Task) -> dict[str, Any]:
    """The author's exit options for this end of a task."""
    conditions: dict[str, Any] = task.document.get("exitConditions", {})
    code = task.exit_code
    if code is None:
        before = conditions.get("preProcessingError") if task.failure else None
        options: dict[str, Any] = before or conditions.get("default", {})
        return options
    exact = (one["exitOptions"] for one in conditions.get("exitCodes", ()) if one["code"] == code)
    ranges = (
        one["exitOptions"]
        for one in conditions.get("exitCodeRanges", ())
        if one["start"] <= code <= one["end"]
    )
    options_of_code: dict[str, Any] | None = next(exact, None) or next(ranges, None)
    if options_of_code is not None:
        return options_of_code
    default: dict[str, Any] = conditions.get("default", {})
    if task.failure and str(task.failure["code"]).startswith("FileUpload"):
        upload: dict[str, Any] = conditions.get("fileUploadError") or default
        return upload
    return {} if code == 0 else default
