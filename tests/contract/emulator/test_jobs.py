"""Jobs on an emulated cluster, from PUT to their output."""

import asyncio
import resource
from pathlib import Path

import aiohttp
import pytest
from azure.storage.blob import StandardBlobTier
from azure.storage.blob.aio import BlobServiceClient

from tests.contract.emulator.conftest import Lab, alive, autoscale, blob_mount, custom, until


async def test_a_job_wakes_a_cluster_from_zero_nodes_and_lets_it_sleep_again(lab: Lab) -> None:
    await lab.make_cluster(autoscale(2))
    assert (await lab.cluster()).current_node_count == 0

    await lab.submit("job", **custom("echo hello; echo oh >&2"))
    job = await lab.ends("job")

    assert job.execution_state == "succeeded", job.execution_info.errors
    assert job.execution_info.exit_code == 0
    assert not job.execution_info.errors

    async def asleep() -> bool:
        now = await lab.cluster()
        return bool(now.current_node_count == 0 and now.allocation_state == "steady")

    await until(asleep)
    # The output outlives the node that wrote it.
    assert await lab.read("job", "stdout.txt") == "hello\n"
    assert await lab.read("job", "stderr.txt") == "oh\n"


async def test_a_job_that_fails_shows_its_exit_code(lab: Lab) -> None:
    await lab.make_cluster()

    await lab.submit("job", **custom("exit 7"))
    job = await lab.ends("job")

    assert job.execution_state == "failed"
    assert job.execution_info.exit_code == 7
    (error,) = job.execution_info.errors
    assert (error.code, error.message) == ("JobFailed", "Job failed with non-zero exit code")


async def test_a_job_whose_preparation_fails_is_never_started(lab: Lab) -> None:
    await lab.make_cluster()

    await lab.submit("job", jobPreparation={"commandLine": "echo no; exit 3"}, **custom("touch started"))
    job = await lab.ends("job")

    assert job.execution_info.errors[0].code == "JobPreparationFailed"
    assert job.execution_info.exit_code == 3
    assert await lab.read("job", "stdout-job_prep.txt") == "no\n"
    assert "stdout.txt" not in await lab.files("job")


async def test_a_job_that_takes_too_long_is_ended(lab: Lab) -> None:
    await lab.make_cluster()

    await lab.submit("job", constraints={"maxWallClockTime": "PT0.5S"}, **custom("sleep 600"))
    job = await lab.ends("job")

    assert job.execution_state == "failed"
    assert job.execution_info.errors[0].code == "JobMaxWallClockTimeReached"
    assert job.execution_info.exit_code in (127, 143)  # whether its process had begun


async def test_terminating_a_running_job_ends_all_its_processes(lab: Lab, tmp_path: Path) -> None:
    await lab.make_cluster()
    pids = tmp_path / "pids"
    # One process ignores the polite request, one is in a session of its own.
    command = f"trap '' TERM; setsid sleep 600 & echo $! >> {pids}; echo $$ >> {pids}; sleep 600; sleep 600"
    await lab.submit("job", **custom(command))

    async def started() -> list[str]:
        result = pids.read_text().split() if pids.exists() else []
        return result if len(result) == 2 else []

    running = await until(started)
    poller = await lab.client.jobs.begin_terminate(*lab.place, "job")
    await poller.result()

    job = await lab.job("job")
    assert job.execution_state == "failed"
    assert job.execution_info.exit_code is None
    (error,) = job.execution_info.errors
    assert error.code == "JobTerminated"
    assert error.message == "The specified job has been terminated by the user"
    assert not [pid for pid in running if alive(pid)]


async def test_terminating_a_queued_job_ends_it_and_an_ended_one_stays_as_it_is(lab: Lab) -> None:
    await lab.make_cluster({"manual": {"targetNodeCount": 0}})
    await lab.submit("job", **custom("true"))
    assert (await lab.job("job")).execution_info is None

    await (await lab.client.jobs.begin_terminate(*lab.place, "job")).result()
    ended = await lab.job("job")
    await (await lab.client.jobs.begin_terminate(*lab.place, "job")).result()

    assert ended.execution_state == "failed"
    assert ended.execution_info.errors[0].code == "JobTerminated"
    assert ended.execution_info.start_time is None
    assert (await lab.job("job")).execution_info.end_time == ended.execution_info.end_time


async def test_deleting_a_running_job_ends_it(lab: Lab, tmp_path: Path) -> None:
    await lab.make_cluster()
    mark = tmp_path / "pid"
    await lab.submit("job", **custom(f"echo $$ > {mark}; sleep 600"))

    async def started() -> str:
        return mark.read_text().strip() if mark.exists() else ""

    pid = await until(started)
    await (await lab.client.jobs.begin_delete(*lab.place, "job")).result()

    assert not alive(pid)
    assert [job.name async for job in lab.client.jobs.list_by_experiment(*lab.place)] == []


async def test_a_blob_container_is_a_directory_and_what_is_written_gets_back(
    lab: Lab, blobs: BlobServiceClient
) -> None:
    container = await blobs.create_container("data")
    await container.upload_blob("in/words.txt", b"one two three")
    await container.upload_blob("no//path", b"left out")
    await container.upload_blob("in/cold.bin", b"left out", standard_blob_tier=StandardBlobTier.ARCHIVE)
    await lab.make_cluster()
    command = """
        cd $AZ_BATCHAI_JOB_MOUNT_ROOT/data && wc -w < in/words.txt > count.txt
        cp $AZ_BATCHAI_STDOUTERR_DIR/execution.log . && rm in/words.txt
        mkdir new && echo deep > new/file && touch now && sleep 600
    """
    mounts = {"azureBlobFileSystems": [blob_mount("out", "out"), blob_mount("data", "data")]}
    await lab.submit("job", mountVolumes=mounts, **custom(command))

    async def written_while_it_runs() -> bool:
        return await container.get_blob_client("new/file").exists()

    await until(written_while_it_runs)
    job = await lab.job("job")
    assert job.execution_state == "running"
    await (await lab.client.jobs.begin_terminate(*lab.place, "job")).result()

    names = {blob.name async for blob in container.list_blobs()}
    assert names == {"no//path", "in/cold.bin", "count.txt", "new/file", "now", "execution.log"}
    log = await (await container.download_blob("execution.log")).readall()
    assert b"2 blobs are not shown" in log
    assert b"'in/cold.bin', 'no//path'" in log
    assert (await (await container.download_blob("count.txt")).readall()).strip() == b"3"


async def test_a_container_that_is_only_read_is_not_changed_and_nothing_of_the_job_stays(
    lab: Lab, blobs: BlobServiceClient
) -> None:
    container = await blobs.create_container("readonly")
    await container.upload_blob("in/words.txt", b"one two three")
    await lab.make_cluster()
    mount = {**blob_mount("readonly", "data"), "mountOptions": "-o allow_other -o ro"}
    mounts = {"azureBlobFileSystems": [mount]}
    command = "cd $AZ_BATCHAI_JOB_MOUNT_ROOT/data && wc -w < in/words.txt && {}"
    await lab.submit(
        "first", mountVolumes=mounts, **custom(command.format("echo new | tee new > in/words.txt"))
    )
    await lab.ends("first")
    untouched = "test $(wc -w < in/words.txt) = 3 && test ! -e new"
    await lab.submit("second", mountVolumes=mounts, **custom(command.format(untouched)))
    second = await lab.ends("second")

    assert second.execution_info.exit_code == 0
    assert [blob.name async for blob in container.list_blobs()] == ["in/words.txt"]
    assert await (await container.download_blob("in/words.txt")).readall() == b"one two three"


async def test_a_mount_that_fails_fails_the_job_with_the_reason(lab: Lab) -> None:
    await lab.make_cluster()

    mounts = {"azureBlobFileSystems": [blob_mount("absent-container", "out")]}
    await lab.submit("job", mountVolumes=mounts, **custom("true"))
    job = await lab.ends("job")

    (error,) = job.execution_info.errors
    assert error.code == "BFSMountError"
    assert "absent-container" in error.message
    assert "ContainerNotFound" in error.message


async def test_a_gang_of_pytorch_processes_meets_in_the_shared_directory(lab: Lab) -> None:
    await lab.make_cluster(autoscale(2))
    script = "import os, pathlib, sys, time\n" + (
        "where = pathlib.Path(sys.argv[1].removeprefix('file://')).parent\n"
        "rank = os.environ['AZ_BATCHAI_TASK_INDEX']\n"
        "(where / f'rank-{rank}').touch()\n"
        "while len(list(where.glob('rank-*'))) < 3: time.sleep(0.02)\n"
        "print(rank, os.environ['AZ_BATCHAI_PYTORCH_BACKEND'], sys.argv[2])\n"
    )
    prepare = f"cat > my\\ script.py <<'EOF'\n{script}EOF\n"
    await lab.submit(
        "job",
        nodeCount=2,
        jobPreparation={"commandLine": prepare},
        pyTorchSettings={
            "pythonScriptFilePath": "$AZ_BATCHAI_JOB_TEMP/wd/my script.py",
            "commandLineArgs": "$AZ_BATCHAI_PYTORCH_INIT_METHOD $AZ_BATCH_HOST_LIST",
            "processCount": 3,
            "communicationBackend": "gloo",
        },
    )
    job = await lab.ends("job")

    assert job.execution_state == "succeeded", job.execution_info.errors
    outputs = [(await lab.read("job", f"stdout-{rank}.txt")).split() for rank in range(3)]
    assert [output[:2] for output in outputs] == [[str(rank), "gloo"] for rank in range(3)]
    hosts = outputs[0][2].split(",")
    assert len(set(hosts)) == 2
    assert all(host.startswith("127.0.1.") for host in hosts)
    logs = [name for name in await lab.files("job") if name.startswith("execution-tvm-")]
    assert len(logs) == 2


async def test_a_job_finds_its_documented_environment(lab: Lab) -> None:
    await lab.make_cluster(vmPriority="lowpriority")
    await lab.submit(
        "job",
        inputDirectories=[{"id": "DATA", "path": "$AZ_BATCHAI_JOB_MOUNT_ROOT/out/data"}],
        outputDirectories=[
            {"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/out", "pathSuffix": "models"}
        ],
        environmentVariables=[{"name": "WHERE", "value": "${AZ_BATCHAI_INPUT_DATA}/x $OTHER"}],
        secrets=[{"name": "PASSWORD", "value": "pa$$word"}],
        containerSettings={"imageSourceRegistry": {"image": "ubuntu:16.04"}},
        **custom("env; echo 0.9 > $AZ_BATCHAI_OUTPUT_MODEL/accuracy; pwd; python -c 'print(40 + 2)'"),
    )
    job = await lab.ends("job")

    assert job.execution_state == "succeeded", job.execution_info.errors
    lines = (await lab.read("job", "stdout.txt")).splitlines()
    env = dict(line.split("=", 1) for line in lines if "=" in line)
    assert {name for name in env if name.startswith("AZ_BATCH")} == {
        "AZ_BATCHAI_INPUT_DATA",
        "AZ_BATCHAI_JOB_MOUNT_ROOT",
        "AZ_BATCHAI_JOB_TEMP",
        "AZ_BATCHAI_JOB_TEMP_DIR",
        "AZ_BATCHAI_MOUNT_ROOT",
        "AZ_BATCHAI_MPI_HOST_FILE",
        "AZ_BATCHAI_NUM_GPUS",
        "AZ_BATCHAI_NUM_GPUS_PER_NODE",
        "AZ_BATCHAI_OUTPUT_MODEL",
        "AZ_BATCHAI_PREV_OUTPUT_MODEL",
        "AZ_BATCHAI_SHARED_JOB_TEMP",
        "AZ_BATCHAI_STDOUTERR_DIR",
        "AZ_BATCH_HOST_LIST",
    }
    assert env["WHERE"] == env["AZ_BATCHAI_JOB_MOUNT_ROOT"] + "/out/data/x $OTHER"
    assert env["PASSWORD"] == "pa$$word"
    assert "OF_THE_EMULATOR" not in env
    assert env["AZ_BATCHAI_OUTPUT_MODEL"].endswith(f"{job.job_output_directory_path_segment}/outputs/models")
    assert lines[-2:] == [env["AZ_BATCHAI_JOB_TEMP"] + "/wd", "42"]
    assert await lab.read("job", "accuracy", "MODEL") == "0.9\n"
    log = await lab.read("job", "execution.log")
    assert "The image ubuntu:16.04 is not used" in log
    assert "pa$$word" not in log


async def test_jobs_start_by_priority_and_then_first_come_first_served(lab: Lab, tmp_path: Path) -> None:
    await lab.make_cluster({"manual": {"targetNodeCount": 0}})
    order = tmp_path / "order"
    for name, priority in [("a", "low"), ("b", "normal"), ("c", "high"), ("d", "normal")]:
        await lab.submit(name, schedulingPriority=priority, **custom(f"echo {name} >> {order}"))

    scale = {"properties": {"scaleSettings": {"manual": {"targetNodeCount": 1}}}}
    await lab.client.clusters.update("group", lab.workspace, "dev-cluster-00", scale)
    await asyncio.gather(*(lab.ends(name) for name in "abcd"))

    assert order.read_text().split() == ["c", "b", "d", "a"]


async def test_a_log_is_followed_by_ranges_until_its_end(lab: Lab) -> None:
    await lab.make_cluster()
    await lab.submit("job", **custom("printf 0123456789; mkdir $AZ_BATCHAI_STDOUTERR_DIR/sub"))
    await lab.ends("job")
    files = await lab.files("job")
    url = files["stdout.txt"].download_url

    async with aiohttp.ClientSession() as session:

        async def get(part: str, address: str = url) -> tuple[int, str, str | None]:
            async with session.get(address, headers={"Range": part}) as answer:
                return answer.status, await answer.text(), answer.headers.get("Content-Range")

        assert await get("bytes=4-") == (206, "456789", "bytes 4-9/10")
        assert await get("bytes=2-3") == (206, "23", "bytes 2-3/10")
        assert (await get("bytes=10-"))[0] == 416
        forged = url.replace("stdout.txt", "stderr.txt")
        assert (await get("bytes=0-", forged))[0] == 403
    assert files["stdout.txt"].content_length == 10
    assert files["sub"].file_type == "directory"
    assert files["sub"].download_url is None


async def test_mpi_jobs_run_under_mpirun_or_say_what_to_install(lab: Lab) -> None:
    await lab.make_cluster()
    await lab.submit(
        "job", customMpiSettings={"commandLine": "echo $OMPI_COMM_WORLD_RANK", "processCount": 2}
    )
    job = await lab.ends("job")

    if job.execution_state == "succeeded":
        assert sorted((await lab.read("job", "stdout.txt")).split()) == ["0", "1"]
    else:
        (error,) = job.execution_info.errors
        assert error.code == "MpiNotInstalled"
        assert "openmpi-bin" in error.message


@pytest.mark.parametrize("state", ["queued", "running"])
async def test_deleting_the_cluster_fails_its_jobs(lab: Lab, tmp_path: Path, state: str) -> None:
    async def begun() -> bool:
        return state == "queued" or (tmp_path / "begun").exists()

    await lab.make_cluster({"manual": {"targetNodeCount": 1 if state == "running" else 0}})
    await lab.submit("job", **custom(f"touch {tmp_path}/begun; sleep 600"))
    await lab.reaches("job", state)
    await until(begun)

    await (await lab.client.clusters.begin_delete("group", lab.workspace, "dev-cluster-00")).result()

    job = await lab.job("job")
    assert job.execution_state == "failed"
    assert job.execution_info.errors[0].code == "ClusterDeleted"
    assert job.execution_info.exit_code == (143 if state == "running" else 127)


@pytest.mark.thorough
async def test_what_a_job_left_on_its_node_is_removed_however_deep_it_is(own_lab: Lab) -> None:
    emulator = own_lab.emulator
    assert emulator.process
    resource.prlimit(emulator.process.pid, resource.RLIMIT_NOFILE, (256, 256))
    await own_lab.make_cluster()
    deep = "$AZ_BATCHAI_SHARED_JOB_TEMP/$(printf 'd/%.0s' {1..1500})"
    await own_lab.submit("first", **custom(f"mkdir -p {deep}; echo $AZ_BATCHAI_SHARED_JOB_TEMP"))
    await own_lab.ends("first")
    directory = Path((await own_lab.read("first", "stdout.txt")).strip())
    assert directory.is_relative_to(emulator.data)

    await own_lab.submit("second", **custom("true"))
    job = await own_lab.ends("second")

    assert job.execution_state == "succeeded", job.execution_info.errors
    assert await asyncio.to_thread(directory.exists) is False
