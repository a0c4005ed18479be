"""What the emulator remembers of tasks: their order, also after they have run, and after a restart."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from local.azurebatch.run import changes
from local.azurebatch.state.database import Store
from local.azurebatch.state.errors import BatchError
from local.azurebatch.state.models import Job, Task
from local.record_file import StoreBusyError

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def filled(store: Store) -> list[Task]:
    common = {"created": NOON, "version": NOON, "since": NOON}
    store.save(Job(id="J", sequence=store.next_sequence(), document={}, pool="p", **common))
    tasks = [Task(id=name, sequence=store.next_sequence(), document={}, job="j", **common) for name in "cab"]
    store.save(*tasks)
    return tasks


def test_a_task_that_waits_again_has_its_old_place(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = filled(store)[0]

    started = changes.started(first, "p", ("n",), "mark", NOON)
    store.save(started)
    running = [*store.waiting["j"]], [*store.running["j"]]
    store.save(changes.requeued(started, NOON))

    assert running == (["a", "b"], ["c"])
    assert ([*store.waiting["j"]], [*store.running["j"]]) == (["c", "a", "b"], [])
    store.close()


def test_a_restart_forgets_nothing_and_a_deleted_job_takes_its_tasks_along(tmp_path: Path) -> None:
    store = Store(tmp_path)
    filled(store)
    with pytest.raises(StoreBusyError):
        Store(tmp_path)
    store.close()

    again = Store(tmp_path)
    found_order = [task.id for task in again.tasks["j"].values()]
    next_number = again.next_sequence()
    again.forget(again.job("j"))
    with pytest.raises(BatchError) as gone_for_good:
        again.task("J", "a")
    again.close()
    last = Store(tmp_path)

    assert found_order == ["c", "a", "b"]
    assert next_number == 5
    assert gone_for_good.value.code == "JobNotFound"
    assert (last.jobs, last.tasks) == ({}, {})
    last.close()
