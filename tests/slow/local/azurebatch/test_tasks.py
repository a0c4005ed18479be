"""Jobs and tasks that run, by Microsoft's client."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from azure.batch import BatchClient, models
from azure.batch.models._models import BatchJobTerminateOptions
from azure.core.exceptions import HttpResponseError, ResourceExistsError

from tests.slow.local.azurebatch.world import (
    Emulator,
    code_of,
    ended,
    new_job,
    new_pool,
    new_task,
    text_of,
    until,
)


@pytest.fixture(scope="module")
def pool(running: Emulator) -> str:
    """A pool with two nodes, of two slots each."""
    with running.client() as client:
        client.create_pool(new_pool("two", target_dedicated_nodes=2, task_slots_per_node=2))
    return "two"


@pytest.fixture(scope="module")
def gang_pool(running: Emulator) -> str:
    """A pool with two nodes that may speak to each other."""
    with running.client() as client:
        client.create_pool(new_pool("gang", target_dedicated_nodes=2, enable_inter_node_communication=True))
    return "gang"


@pytest.fixture
def gang_job(client: BatchClient, gang_pool: str, request: pytest.FixtureRequest) -> str:
    """A job of the test's own, for tasks on two nodes."""
    name = str(request.node.name)[:60]
    client.create_job(new_job(name, gang_pool))
    return name


@pytest.fixture
def job(client: BatchClient, pool: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A job of the test's own."""
    name = request.node.name[:60].replace("[", "-").replace("]", "")
    client.create_job(new_job(name, pool))
    yield name
    client.begin_delete_job(name, polling_interval=0)


@pytest.fixture
def files() -> Iterator[str]:
    """The address of a server of files, as storage with a signature in the address is one."""

    class Files(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            results_of_tasks = self.path.startswith("/there")
            self.send_response(200 if results_of_tasks else 404)
            self.end_headers()
            self.wfile.write(b"from storage\n" if results_of_tasks else b"")

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Files) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def run(client: BatchClient, job: str, command: str, **more: Any) -> models.BatchTask:
    client.create_task(job, new_task("t", command, **more))
    return ended(client, job, "t")


def test_a_task_runs_and_leaves_its_streams(client: BatchClient, job: str) -> None:
    task = run(
        client,
        job,
        'echo "$GREETING $AZ_BATCH_JOB_ID/$AZ_BATCH_TASK_ID"; echo bad >&2; pwd',
        environment_settings=[models.EnvironmentSetting(name="GREETING", value="hello")],
    )

    info, node = task.execution_info, task.node_info
    assert info
    assert node
    assert (info.exit_code, info.result, info.retry_count, task.previous_state) == (
        0,
        "success",
        0,
        "running",
    )
    out = text_of(client, job, "t").splitlines()
    assert out[0] == f"hello {job}/t"
    assert out[1].endswith(f"/workitems/{job}/job-1/t/wd")
    assert text_of(client, job, "t", "stderr.txt") == "bad\n"
    assert text_of(client, job, "t", ocp_range="bytes=1-4") == "ello"
    assert node.task_root_directory == f"workitems/{job}/job-1/t"


def test_a_bad_exit_code_is_a_failure_with_its_code(client: BatchClient, job: str) -> None:
    info = run(client, job, "exit 7").execution_info

    assert info
    assert (info.exit_code, info.result) == (7, "failure")
    assert info.failure_info
    assert (info.failure_info.category, info.failure_info.code) == ("usererror", "FailureExitCode")


def test_a_program_that_is_not_there_is_named(client: BatchClient, job: str) -> None:
    client.create_task(job, models.BatchTaskCreateOptions(id="t", command_line="no-such-program --now"))

    info = ended(client, job, "t").execution_info

    assert info
    assert info.exit_code is None
    assert info.failure_info
    assert info.failure_info.code == "CommandProgramNotFound"


def test_a_task_is_tried_again_as_often_as_it_may(client: BatchClient, job: str) -> None:
    command = "echo x >> $AZ_BATCH_NODE_SHARED_DIR/../tries; exit 1"
    info = run(
        client, job, command, constraints=models.BatchTaskConstraints(max_task_retry_count=2)
    ).execution_info

    assert info
    assert (info.retry_count, info.exit_code) == (2, 1)
    assert info.last_retry_time


def test_a_task_has_no_more_time_than_it_may_take(client: BatchClient, job: str) -> None:
    limit = models.BatchTaskConstraints(max_wall_clock_time=timedelta(seconds=1))

    info = run(client, job, "sleep 600", constraints=limit).execution_info

    assert info
    assert (info.result, info.exit_code) == ("failure", None)


def test_a_terminated_task_ends_with_its_processes_and_may_run_again(
    client: BatchClient, job: str, tmp_path: Path
) -> None:
    command = f"[ -e {tmp_path}/seen ] && exit 0; touch {tmp_path}/seen; sleep 600"
    client.create_task(job, new_task("t", command))
    until((tmp_path / "seen").exists)
    client.terminate_task(job, "t")
    first = client.get_task(job, "t")
    with pytest.raises(ResourceExistsError) as over:
        client.terminate_task(job, "t")
    client.reactivate_task(job, "t")
    second = ended(client, job, "t").execution_info

    assert first.execution_info
    assert first.execution_info.failure_info
    assert first.execution_info.failure_info.code == "TaskEnded"
    assert code_of(over.value) == "TaskCompleted"
    assert second
    assert second.exit_code == 0


def test_a_task_is_not_made_twice_nor_in_a_job_that_has_ended(client: BatchClient, pool: str) -> None:
    client.create_job(new_job("ending", pool))
    client.create_task("ending", new_task("t", "sleep 600"))
    with pytest.raises(ResourceExistsError) as twice:
        client.create_task("ending", new_task("T", "true"))
    until(lambda: client.get_task("ending", "t").state == "running")  # an active one would stay active
    why = BatchJobTerminateOptions(termination_reason="Enough")
    client.begin_terminate_job("ending", why, polling_interval=0)
    until(lambda: client.get_job("ending").state == "completed")
    with pytest.raises(ResourceExistsError) as late:
        client.create_task("ending", new_task("u", "true"))

    info = client.get_job("ending").execution_info
    assert (code_of(twice.value), code_of(late.value)) == ("TaskExists", "JobCompleted")
    assert info
    assert info.termination_reason == "Enough"
    assert client.get_task("ending", "t").state == "completed"


def test_many_tasks_are_made_at_once_and_each_is_answered(client: BatchClient, job: str) -> None:
    client.create_task(job, new_task("n7", "true"))
    results_of_tasks = client.create_task_collection(
        job, models.BatchTaskGroup(task_values=[new_task(f"n{n}", "true") for n in range(20)])
    ).result_values

    results = {
        one.task_id: (one.status, one.error.code if one.error else None) for one in results_of_tasks or []
    }
    assert results.pop("n7") == ("ClientError", "TaskExists")
    assert set(results.values()) == {("Success", None)}
    until(lambda: client.get_job_task_counts(job).task_counts.succeeded == 20)
    names = [task.id for task in client.list_tasks(job, max_results=7, filter="state eq 'completed'")]
    assert sorted(names) == sorted(f"n{n}" for n in range(20))


def test_what_is_wrong_with_a_body_is_named(client: BatchClient, job: str) -> None:
    with pytest.raises(HttpResponseError) as lacking:
        client.create_task(job, {"id": "t"})  # type: ignore[arg-type]
    with pytest.raises(HttpResponseError) as misspelt:
        client.create_task(job, {"id": "t", "commandLine": "true", "comandLine": "x"})  # type: ignore[arg-type]
    with pytest.raises(HttpResponseError) as named:
        client.create_task(job, new_task("a b", "true"))

    codes = [code_of(one.value) for one in (lacking, misspelt, named)]
    assert codes == ["MissingRequiredProperty", "InvalidRequestBody", "InvalidPropertyValue"]


def test_common_files_are_in_the_directory_that_the_processes_of_a_task_share(
    client: BatchClient, gang_job: str, files: str
) -> None:
    common = [models.ResourceFile(http_url=f"{files}/there", file_path="cmd.sh")]
    settings = models.MultiInstanceSettings(
        number_of_instances=2,
        coordination_command_line="/bin/sh -c 'cp $AZ_BATCH_TASK_SHARED_DIR/cmd.sh copy'",
        common_resource_files=common,
    )
    line = "cat copy; ls $AZ_BATCH_TASK_DIR; echo $CCP_NODES; echo $AZ_BATCH_ACCOUNT_URL"

    run(client, gang_job, line, multi_instance_settings=settings)

    content, *names, ccp, url = text_of(client, gang_job, "t").splitlines()
    assert content == "from storage"
    assert {"cmd.sh", "wd"} <= set(names)
    count, first, cores, second, _ = ccp.split()
    assert (count, first.startswith("127."), second.startswith("127."), int(cores) > 0) == (
        "2",
        True,
        True,
        True,
    )
    assert url.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("name", ["JobPreparation", "jobrelease"])
def test_no_task_has_the_id_of_the_preparation_or_release_of_its_job(
    client: BatchClient, pool: str, name: str
) -> None:
    commands: dict[str, Any] = {
        "job_preparation_task": models.BatchJobPreparationTask(command_line="true"),
        "job_release_task": models.BatchJobReleaseTask(command_line="true"),
    }
    client.create_job(new_job(f"own-{name}", pool, **commands))

    with pytest.raises(ResourceExistsError) as refused:
        client.create_task(f"own-{name}", new_task(name, "true"))

    assert code_of(refused.value).lower() == f"taskidsameas{name}task".lower()


def test_a_job_that_ends_with_its_tasks_and_has_none_ends_at_once(client: BatchClient, pool: str) -> None:
    client.create_job(new_job("no-tasks", pool, all_tasks_complete_mode="terminatejob"))

    until(lambda: client.get_job("no-tasks").state == "completed")


def test_ranges_of_ids_that_overlap_are_one(client: BatchClient, pool: str) -> None:
    client.create_job(new_job("ranges", pool, uses_task_dependencies=True))
    spans = [models.BatchTaskIdRange(start=start, end=end) for start, end in ((7, 9), (1, 3), (2, 5), (4, 4))]
    needs = models.BatchTaskDependencies(task_id_ranges=spans * 50)
    client.create_task("ranges", new_task("t", "true", depends_on=needs))

    merged = client.get_task("ranges", "t").depends_on

    assert merged
    assert [(one.start, one.end) for one in merged.task_id_ranges or ()] == [(1, 5), (7, 9)]


def test_the_tasks_of_several_nodes_run_as_one(client: BatchClient, gang_job: str) -> None:
    settings = models.MultiInstanceSettings(
        number_of_instances=2,
        coordination_command_line=(
            "/bin/bash -c 'echo $AZ_BATCH_IS_CURRENT_NODE_MASTER > role; sleep 600 & echo coordinated'"
        ),
    )

    task = run(
        client,
        gang_job,
        "cat role; echo $AZ_BATCH_HOST_LIST; echo $AZ_BATCH_MASTER_NODE",
        multi_instance_settings=settings,
    )

    role, hosts, master = text_of(client, gang_job, "t").split()
    subtasks = list(client.list_subtasks(gang_job, "t"))
    assert task.execution_info
    assert (task.execution_info.exit_code, role, len(set(hosts.split(",")))) == (0, "true", 2)
    assert master.split(":")[0] == hosts.split(",")[0]
    assert [(one.id, one.exit_code, one.state) for one in subtasks] == [(1, 0, "completed")]
    other = subtasks[0].node_info
    assert other
    assert other.pool_id
    assert other.node_id
    file = f"{other.task_root_directory}/wd/role"
    assert b"".join(client.download_node_file(other.pool_id, other.node_id, file)) == b"false\n"


def test_coordination_that_fails_is_the_end_of_the_task(client: BatchClient, gang_job: str) -> None:
    settings = models.MultiInstanceSettings(
        number_of_instances=2, coordination_command_line="/bin/bash -c 'exit 5'"
    )

    info = run(client, gang_job, "echo never", multi_instance_settings=settings).execution_info

    assert info
    assert (info.exit_code, info.result) == (5, "failure")


def test_resource_files_are_there_and_one_that_is_not_is_a_failure(
    client: BatchClient, job: str, files: str
) -> None:
    def resource(path: str) -> list[models.ResourceFile]:
        return [models.ResourceFile(http_url=f"{files}/{path}?sig=secret", file_path="in/data.txt")]

    client.create_task(job, new_task("found", "cat in/data.txt", resource_files=resource("there")))
    client.create_task(job, new_task("lost", "true", resource_files=resource("gone")))

    ended(client, job, "found")
    info = ended(client, job, "lost").execution_info
    assert text_of(client, job, "found") == "from storage\n"
    assert info
    assert info.failure_info
    assert info.failure_info.code == "BlobNotFound"
    assert "secret" not in str(info.as_dict())


def test_an_exit_condition_ends_the_job(client: BatchClient, pool: str) -> None:
    client.create_job(new_job("strict", pool, task_failure_mode="performexitoptionsjobaction"))
    stop = models.ExitOptions(job_action=models.BatchJobActionKind.TERMINATE)
    conditions = models.ExitConditions(exit_codes=[models.ExitCodeMapping(code=4, exit_options=stop)])
    client.create_task("strict", new_task("other", "exit 3", exit_conditions=conditions))
    ended(client, "strict", "other")
    before = client.get_job("strict").state
    client.create_task("strict", new_task("t", "exit 4", exit_conditions=conditions))

    until(lambda: client.get_job("strict").state == "completed")

    assert before == "active"


def test_a_job_ends_when_its_tasks_have_and_dependants_wait(client: BatchClient, pool: str) -> None:
    client.create_job(new_job("chained", pool, uses_task_dependencies=True))
    later = models.BatchTaskDependencies(task_ids=["a"])
    client.create_task("chained", new_task("b", "echo b >> $AZ_BATCH_NODE_SHARED_DIR/b", depends_on=later))
    client.create_task("chained", new_task("a", "sleep 0.3"))
    client.update_job("chained", models.BatchJobUpdateOptions(all_tasks_complete_mode="terminatejob"))

    until(lambda: client.get_job("chained").state == "completed")

    first, second = (client.get_task("chained", name).execution_info for name in "ab")
    assert first
    assert second
    assert first.end_time
    assert second.start_time
    assert second.start_time >= first.end_time


def test_a_disabled_job_starts_nothing_until_it_is_enabled(
    client: BatchClient, job: str, tmp_path: Path
) -> None:
    client.create_task(
        job, new_task("t", f"[ -e {tmp_path}/seen ] && exit 0; touch {tmp_path}/seen; sleep 600")
    )
    until((tmp_path / "seen").exists)
    client.begin_disable_job(job, models.BatchJobDisableOptions(disable_tasks="requeue"), polling_interval=0)
    until(lambda: client.get_job(job).state == "disabled")
    waiting = client.get_task(job, "t")
    client.begin_enable_job(job, polling_interval=0)

    info = ended(client, job, "t").execution_info
    assert waiting.state == "active"
    assert info
    assert (info.requeue_count, info.exit_code) == (1, 0)


def test_a_deleted_task_is_gone_and_its_files_can_be_deleted_before(client: BatchClient, job: str) -> None:
    run(client, job, "echo x > wd.txt")
    properties = client.get_task_file_properties(job, "t", "wd/wd.txt")
    client.delete_task_file(job, "t", "wd/wd.txt")
    names = [file.name for file in client.list_task_files(job, "t", recursive=True)]
    client.delete_task(job, "t")

    assert properties.content_length == 2
    assert names == ["stderr.txt", "stdout.txt", "wd"]
    assert list(client.list_tasks(job)) == []
