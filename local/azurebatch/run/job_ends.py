"""How jobs end: by a caller, by their tasks, or by time; and which tasks can start."""

import contextlib
import itertools
from collections.abc import Callable, Collection, Iterator
from datetime import datetime

from local.azurebatch.run import changes
from local.azurebatch.state.database import Store
from local.azurebatch.state.models import Job, Pool, Task
from local.azurebatch.state.moment import duration


class Jobs:
    """Ends jobs and their tasks. `release` ends the processes of a task whose record has changed.

    `released` says whether the nodes of a job that ends are released from it, and begins that.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], datetime],
        release: Callable[[Task], None],
        released: Callable[[Job], bool],
    ) -> None:
        self._store = store
        self._clock = clock
        self._release = release
        self._released = released

    def check(self, alive: Collection[str]) -> datetime | None:
        """Finish ending jobs; `alive` ones have processes.

        Returns when the next job reaches its time limit.
        """
        wakes = []
        for job in list(self._store.jobs.values()):
            if job.key not in alive:
                self._settle(job)
            if job.state == "active" and (due := self._due(job)):
                if due <= self._clock():
                    self.terminate(job, "MaxWallClockTimeExpiry")
                else:
                    wakes.append(due)
        return min(wakes, default=None)

    def _settle(self, job: Job) -> None:
        now = self._clock()
        if job.state in ("terminating", "deleting") and not self._released(job):
            return
        if job.state == "terminating":
            self._store.save(changes.moved_job(job, "completed", now, ended=now))
        elif job.state == "disabling":
            self._store.save(changes.moved_job(job, "disabled", now))
        elif job.state == "deleting":
            self._store.forget(job)

    @staticmethod
    def _due(job: Job) -> datetime | None:
        limit = duration(job.document["constraints"]["maxWallClockTime"], "maxWallClockTime")
        with contextlib.suppress(OverflowError):
            return None if limit is None else job.created + limit
        return None

    def terminate(self, job: Job, reason: str) -> None:
        """End a job and its running tasks; waiting ones keep their state."""
        self._store.save(changes.moved_job(job, "terminating", self._clock(), reason=reason))
        self._end_tasks(job)

    def delete(self, job: Job) -> None:
        """End a job, and delete it when its processes have ended."""
        self._store.save(changes.moved_job(job, "deleting", self._clock()))
        self._end_tasks(job)

    def disable(self, job: Job, option: str) -> None:
        """Start no more tasks; running ones are requeued, terminated or awaited."""
        self._store.save(changes.moved_job(job, "disabling", self._clock(), disable=option))
        for task in self._running(job):
            if option == "terminate":
                self.terminate_task(task)
            elif option == "requeue":
                self._store.save(changes.requeued(task, self._clock()))
                self._release(task)

    def terminate_task(self, task: Task) -> None:
        """End a task, in any state."""
        ended = changes.terminated(task, self._clock())
        self._store.save(ended)
        self._release(task)
        self.task_ended(ended)

    def task_ended(self, task: Task) -> None:
        """Handle the end of a task: its job may have to end or be disabled, too."""
        job = self._store.jobs.get(task.job)
        if job is None or job.state != "active" or task.state != "completed":
            return
        action = changes.job_action(job, task)
        if action == "terminate":
            self.terminate(job, "TaskFailed")
        elif action == "disable":
            self.disable(job, "requeue")
        else:
            self.complete(job)

    def complete(self, job: Job) -> None:
        """End a job whose tasks have all ended, if its author wants that."""
        idle = not self._store.waiting[job.key] and not self._store.running[job.key]
        if job.state == "active" and job.document.get("onAllTasksComplete") == "terminatejob" and idle:
            self.terminate(job, "AllTasksComplete")

    def is_ready(self, task: Task) -> bool:
        """Whether the dependencies of a task have ended successfully, or in a way that its author accepts."""
        dependencies = task.document.get("dependsOn")
        if not dependencies:
            return True
        ranges = (
            map(str, range(span["start"], span["end"] + 1)) for span in dependencies.get("taskIdRanges", ())
        )
        ids = itertools.chain(dependencies.get("taskIds", ()), *ranges)
        tasks = self._store.tasks[task.job]
        return all((other := tasks.get(one.lower())) is not None and _satisfies(other) for one in ids)

    def waiting(self, pool: Pool) -> Iterator[Task]:
        """The tasks that a pool could start, by the priority of their jobs and by age."""
        jobs = [job for job in self._store.jobs_of(pool) if job.state == "active"]
        for job in sorted(jobs, key=lambda job: (-job.priority, job.sequence)):
            most = int(job.document.get("maxParallelTasks", -1))
            room = None if most < 0 else max(0, most - len(self._store.running[job.key]))
            ready = (self._store.tasks[job.key][key] for key in list(self._store.waiting[job.key]))
            yield from itertools.islice((task for task in ready if self.is_ready(task)), room)

    def _end_tasks(self, job: Job) -> None:
        for task in self._running(job):
            self._store.save(changes.terminated(task, self._clock()))
            self._release(task)

    def _running(self, job: Job) -> list[Task]:
        return [self._store.tasks[job.key][key] for key in self._store.running[job.key]]


def _satisfies(task: Task) -> bool:
    if task.state != "completed":
        return False
    return task.succeeded or changes.exit_options(task).get("dependencyAction") == "satisfy"
