"""The emulator's records, in memory for reading and in a file for keeping."""

import itertools
from collections.abc import Iterator
from pathlib import Path

from local.azurebatch.state.errors import not_found
from local.azurebatch.state.models import Job, Pool, Record, Task
from local.record_file import RecordFile

_KINDS: dict[str, type[Record]] = {kind.__name__: kind for kind in (Pool, Job, Task)}


class Store:
    """Pools and jobs by key, tasks by the keys of their job and their own, each in order of creation."""

    def __init__(self, directory: Path) -> None:
        self._file = RecordFile(directory)
        self.pools: dict[str, Pool] = {}
        self.jobs: dict[str, Job] = {}
        self.tasks: dict[str, dict[str, Task]] = {}
        #: for each job, the tasks that wait for a node, and those that have one
        self.waiting: dict[str, dict[str, None]] = {}
        self.running: dict[str, dict[str, None]] = {}
        self._sequence = 0
        loaded = [_KINDS[kind].model_validate_json(body) for kind, body in self._file.read()]
        for record in sorted(loaded, key=lambda record: record.sequence):
            self._keep(record)
            self._sequence = max(self._sequence, record.sequence)

    def next_sequence(self) -> int:
        """The number of the next record."""
        self._sequence += 1
        return self._sequence

    def pool(self, name: str) -> Pool:
        """A pool by its id. Raises BatchError."""
        if pool := self.pools.get(name.lower()):
            return pool
        raise not_found("Pool")

    def job(self, name: str) -> Job:
        """A job by its id. Raises BatchError."""
        if job := self.jobs.get(name.lower()):
            return job
        raise not_found("Job")

    def task(self, job: str, name: str) -> Task:
        """A task by the ids of its job and its own. Raises BatchError."""
        if task := self.tasks[self.job(job).key].get(name.lower()):
            return task
        raise not_found("Task")

    def jobs_of(self, pool: Pool) -> list[Job]:
        """The jobs whose tasks run on a pool."""
        return [job for job in self.jobs.values() if job.pool == pool.key]

    def running_tasks(self, pool: Pool) -> list[Task]:
        """The tasks that have nodes of a pool."""
        jobs = self.jobs_of(pool)
        return [self.tasks[job.key][key] for job in jobs for key in self.running[job.key]]

    def free_numbers(self) -> Iterator[int]:
        """Numbers that no node on this machine has."""
        used = {node.number for pool in self.pools.values() for node in pool.nodes}
        return (number for number in itertools.count(1) if number not in used)

    def save(self, *records: Record) -> None:
        """Save these records, all or none. Raises StoreFullError."""
        self._file.put(
            [(_row_id(record), type(record).__name__, record.model_dump_json()) for record in records]
        )
        for record in records:
            self._keep(record)

    def forget(self, *records: Record) -> None:
        """Delete these records, and the tasks of jobs, all or none. Raises StoreFullError."""
        tasks = [
            task for job in records if isinstance(job, Job) for task in self.tasks.get(job.key, {}).values()
        ]
        self._file.remove([_row_id(record) for record in (*records, *tasks)])
        for record in records:
            if isinstance(record, Pool):
                del self.pools[record.key]
            elif isinstance(record, Job):
                for shelf in (self.jobs, self.tasks, self.waiting, self.running):
                    shelf.pop(record.key)
            elif isinstance(record, Task):
                del self.tasks[record.job][record.key]
                self.waiting[record.job].pop(record.key, None)
                self.running[record.job].pop(record.key, None)

    def close(self) -> None:
        """Close the file, so that another process can open it."""
        self._file.close()

    def _keep(self, record: Record) -> None:
        if isinstance(record, Pool):
            self.pools[record.key] = record
        elif isinstance(record, Job):
            self.jobs[record.key] = record
            for shelf in (self.tasks, self.waiting, self.running):
                shelf.setdefault(record.key, {})
        elif isinstance(record, Task):
            self.tasks[record.job][record.key] = record
            shelves = {"active": self.waiting, "completed": None}
            for shelf in (self.waiting, self.running):
                shelf[record.job].pop(record.key, None)
            rest = shelves.get(record.state, self.running)
            if rest is not None:
                rest[record.job][record.key] = None
            if record.state == "active" and (record.requeues or record.retries):
                self._order_waiting(record.job)

    def _order_waiting(self, job: str) -> None:
        """A task that waits again keeps its place among the others."""
        tasks = self.tasks[job]
        self.waiting[job] = dict.fromkeys(sorted(self.waiting[job], key=lambda key: tasks[key].sequence))


def _row_id(record: Record) -> str:
    above = f"{record.job}/" if isinstance(record, Task) else ""
    return f"{type(record).__name__}/{above}{record.key}"
