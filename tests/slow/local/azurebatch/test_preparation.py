"""The preparation of nodes for a job, and their release at its end, by Microsoft's client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from azure.batch import BatchClient, models
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from tests.slow.local.azurebatch.world import (
    Emulator,
    begin,
    code_of,
    emulator,
    ended,
    new_job,
    new_pool,
    new_task,
    text_of,
    until,
)


@pytest.fixture(scope="module")
def pool(running: Emulator) -> str:
    """A pool of two nodes."""
    with running.client() as client:
        client.create_pool(new_pool("two", target_dedicated_nodes=2))
    return "two"


@pytest.fixture
def name(client: BatchClient, request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of the test's job, which is deleted after it."""
    one = request.node.name.replace("[", "-").replace("]", "")[:60]
    yield one
    try:
        client.begin_delete_job(one, polling_interval=0)
    except ResourceNotFoundError:
        return


def prepared_job(name: str, pool: str, prepare: str, release: str = "", **more: Any) -> Any:
    commands: dict[str, Any] = {
        "job_preparation_task": models.BatchJobPreparationTask(command_line=f"bash -c '{prepare}'", **more)
    }
    if release:
        commands["job_release_task"] = models.BatchJobReleaseTask(command_line=f"bash -c '{release}'")
    return new_job(name, pool, **commands)


def statuses(client: BatchClient, job: str) -> list[Any]:
    return list(client.list_job_preparation_and_release_task_status(job))


def test_a_node_is_prepared_once_before_the_first_task_of_a_job(
    client: BatchClient, pool: str, name: str, tmp_path: Path
) -> None:
    wait = f"until [ -e {tmp_path}/go ]; do sleep 0.05; done"
    prepare = f"{wait}; echo x >>$AZ_BATCH_NODE_SHARED_DIR/$AZ_BATCH_JOB_ID; echo data >data"
    client.create_job(prepared_job(name, pool, prepare))
    command = "cat $AZ_BATCH_NODE_SHARED_DIR/$AZ_BATCH_JOB_ID $AZ_BATCH_JOB_PREP_WORKING_DIR/data"
    for number in range(6):
        client.create_task(name, new_task(f"t{number}", command))
    until(lambda: client.get_task(name, "t0").state == models.BatchTaskState.PREPARING)
    (tmp_path / "go").touch()

    for number in range(6):
        assert ended(client, name, f"t{number}").execution_info
        assert text_of(client, name, f"t{number}") == "x\ndata\n"
    infos = [one.job_preparation_task_execution_info for one in statuses(client, name)]

    assert 1 <= len(infos) <= 2
    assert {(one.state, one.exit_code, one.result) for one in infos} == {("completed", 0, "success")}
    assert infos[0].task_root_directory == f"workitems/{name}/job-1/jobpreparation"


def test_a_task_runs_on_no_node_whose_preparation_failed(client: BatchClient, pool: str, name: str) -> None:
    first, second = sorted(str(node.id) for node in client.list_nodes(pool))
    client.create_job(prepared_job(name, pool, f"[ $AZ_BATCH_NODE_ID != {first} ]"))
    for number in range(4):
        client.create_task(name, new_task(f"t{number}", "sleep 0.2"))

    nodes = {
        (task.execution_info.exit_code, str(task.node_info.node_id))
        for task in (ended(client, name, f"t{number}") for number in range(4))
        if task.execution_info and task.node_info
    }
    by_node = {str(one.node_id): one.job_preparation_task_execution_info for one in statuses(client, name)}

    assert nodes == {(0, second)}
    assert {one: (info.exit_code, info.result) for one, info in by_node.items()}[second] == (0, "success")
    if first in by_node:
        assert by_node[first].result == "failure"


def test_a_preparation_that_need_not_succeed_holds_up_nothing(
    client: BatchClient, pool: str, name: str
) -> None:
    client.create_job(prepared_job(name, pool, "exit 3", wait_for_success=False))
    client.create_task(name, new_task("t", "true"))

    info = ended(client, name, "t").execution_info

    assert info
    assert info.exit_code == 0
    assert [one.job_preparation_task_execution_info.exit_code for one in statuses(client, name)] == [3]


def test_each_prepared_node_is_released_before_the_job_is_completed(
    client: BatchClient, pool: str, name: str
) -> None:
    release = "sleep 0.3; echo released >>$AZ_BATCH_NODE_SHARED_DIR/$AZ_BATCH_JOB_ID-released"
    client.create_job(prepared_job(name, pool, "true", release))
    for number in range(4):
        client.create_task(name, new_task(f"t{number}", "sleep 0.5"))
    for number in range(4):
        ended(client, name, f"t{number}")
    before = [one.job_release_task_execution_info for one in statuses(client, name)]

    client.begin_terminate_job(name, {"terminateReason": "done"}, polling_interval=0)  # type: ignore[arg-type]
    until(lambda: client.get_job(name).state == models.BatchJobState.COMPLETED)
    after = statuses(client, name)

    assert [one for one in before if one] == []
    assert {one.job_release_task_execution_info.result for one in after} == {"success"}
    for one in after:
        path = f"shared/{name}-released"
        text = b"".join(client.download_node_file(pool, str(one.node_id), path)).decode()
        assert text == "released\n"


@pytest.mark.parametrize("end", ["terminate", "delete"])
def test_a_preparation_ends_with_its_job(client: BatchClient, pool: str, end: str, tmp_path: Path) -> None:
    name, mark = f"ending-{end}", tmp_path / "pid"
    client.create_job(prepared_job(name, pool, f"echo $$ >{mark}; sleep 1000", "true"))
    client.create_task(name, new_task("t", "true"))
    until(lambda: mark.is_file() and mark.read_text())

    if end == "delete":
        client.begin_delete_job(name, polling_interval=0)
        until(lambda: name not in [job.id for job in client.list_jobs()])
    else:
        client.begin_terminate_job(name, {"terminateReason": "done"}, polling_interval=0)  # type: ignore[arg-type]
        until(lambda: client.get_job(name).state == models.BatchJobState.COMPLETED)

    until(lambda: not psutil.pid_exists(int(mark.read_text())))


@pytest.mark.parametrize("command", ["nonexistentprogram", "/bin/false"])
def test_a_preparation_that_always_fails_and_may_be_tried_without_limit_holds_up_nothing_else(
    client: BatchClient, pool: str, name: str, command: str
) -> None:
    unlimited = models.BatchTaskConstraints(max_task_retry_count=-1)
    prepare = models.BatchJobPreparationTask(command_line=command, constraints=unlimited)
    client.create_job(new_job(name, pool, job_preparation_task=prepare))
    client.create_task(name, new_task("t", "true"))
    until(lambda: client.get_task(name, "t").state == models.BatchTaskState.PREPARING)

    client.begin_terminate_job(name, {"terminateReason": "done"}, polling_interval=0)  # type: ignore[arg-type]

    until(lambda: client.get_job(name).state == models.BatchJobState.COMPLETED)


def test_a_start_task_that_always_fails_and_may_be_tried_without_limit_ends_with_its_pool(
    client: BatchClient,
) -> None:
    start = models.BatchStartTask(command_line="/bin/false", wait_for_success=True, max_task_retry_count=-1)
    client.create_pool(new_pool("endless", target_dedicated_nodes=1, start_task=start))
    waiting = models.BatchNodeState.WAITING_FOR_START_TASK
    until(lambda: [node.state for node in client.list_nodes("endless")] == [waiting])

    client.begin_delete_pool("endless", polling_interval=0)

    until(lambda: "endless" not in [one.id for one in client.list_pools()])


def test_a_preparation_ends_with_its_pool_and_another_job_of_its_name_has_its_own(
    client: BatchClient, tmp_path: Path
) -> None:
    mark = tmp_path / "pid"
    client.create_pool(new_pool("short", target_dedicated_nodes=1))
    client.create_job(prepared_job("again", "short", f"echo $$ >{mark}; sleep 1000"))
    client.create_task("again", new_task("t", "true"))
    until(lambda: mark.is_file() and mark.read_text())
    client.begin_delete_job("again", polling_interval=0)
    until(lambda: "again" not in [job.id for job in client.list_jobs()])
    client.create_job(prepared_job("again", "short", "exit 4", wait_for_success=False))
    client.create_task("again", new_task("t", "true"))
    ended(client, "again", "t")
    codes = [one.job_preparation_task_execution_info.exit_code for one in statuses(client, "again")]
    client.create_job(prepared_job("last", "short", f"echo $$ >{mark}-2; sleep 1000"))
    client.create_task("last", new_task("t", "true"))
    second = Path(f"{mark}-2")
    until(lambda: second.is_file() and second.read_text())

    client.begin_delete_pool("short", polling_interval=0)

    until(lambda: not psutil.pid_exists(int(second.read_text())))
    assert codes == [4]
    assert not psutil.pid_exists(int(mark.read_text()))
    for name in ("again", "last"):
        client.begin_delete_job(name, polling_interval=0)


def test_a_preparation_that_outlived_a_killed_emulator_ends_with_its_job(tmp_path: Path) -> None:
    mark, data = tmp_path / "pid", tmp_path / "data"
    crashing = begin(data)
    with crashing.client() as client:
        client.create_pool(new_pool("one", target_dedicated_nodes=1))
        client.create_job(prepared_job("job", "one", f"echo $$ >{mark}; sleep 1000"))
        client.create_task("job", new_task("t", "true"))
        until(lambda: mark.is_file() and mark.read_text())
    crashing.kill()
    assert psutil.pid_exists(int(mark.read_text()))

    with emulator(data) as running, running.client() as client:
        client.delete_task("job", "t")
        client.begin_terminate_job("job", {"terminateReason": "done"}, polling_interval=0)  # type: ignore[arg-type]
        until(lambda: client.get_job("job").state == models.BatchJobState.COMPLETED)

    assert not psutil.pid_exists(int(mark.read_text()))


def test_a_job_without_a_preparation_has_no_status_of_one_and_no_release(
    client: BatchClient, pool: str, name: str
) -> None:
    release = models.BatchJobReleaseTask(command_line="true")
    with pytest.raises(HttpResponseError) as alone:
        client.create_job(new_job(name, pool, job_release_task=release))
    client.create_job(new_job(name, pool))

    with pytest.raises(HttpResponseError) as refused:
        statuses(client, name)

    assert code_of(alone.value) == "InvalidPropertyValue"
    assert code_of(refused.value) == "JobPreparationTaskOrReleaseTaskNotSpecified"


def test_a_preparation_runs_again_after_a_reboot(client: BatchClient, pool: str, name: str) -> None:
    prepare = "echo x >>$AZ_BATCH_NODE_SHARED_DIR/$AZ_BATCH_JOB_ID"
    client.create_job(prepared_job(name, pool, prepare))
    client.create_task(name, new_task("before", "true"))
    task = ended(client, name, "before")
    assert task.node_info
    node = str(task.node_info.node_id)

    client.begin_reboot_node(pool, node, {"nodeRebootOption": "requeue"}, polling_interval=0)  # type: ignore[arg-type]
    until(lambda: client.get_node(pool, node).state == models.BatchNodeState.IDLE)
    command = "cat $AZ_BATCH_NODE_SHARED_DIR/$AZ_BATCH_JOB_ID; sleep 0.5"
    for number in range(2):
        client.create_task(name, new_task(f"after{number}", command))
    lines = {}
    for number in range(2):
        again = ended(client, name, f"after{number}")
        assert again.node_info
        lines[str(again.node_info.node_id)] = text_of(client, name, f"after{number}")

    assert lines.get(node, "x\nx\n") == "x\nx\n"
