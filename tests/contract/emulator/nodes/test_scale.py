"""Clusters that are scaled by hand while jobs run, and what jobs leave on nodes."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.contract.emulator.conftest import CLUSTER, GROUP, Lab, autoscale, custom, until

ONE = {"manual": {"targetNodeCount": 1}}


async def scale(lab: Lab, count: int, option: str) -> Any:
    settings = {"manual": {"targetNodeCount": count, "nodeDeallocationOption": option}}
    body = {"properties": {"scaleSettings": settings}}
    return await lab.client.clusters.update(GROUP, lab.workspace, CLUSTER, body)


@pytest.mark.parametrize("option", ["requeue", "terminate", "waitforjobcompletion"])
async def test_a_cluster_that_is_scaled_to_zero_treats_its_job_as_asked_for(
    lab: Lab, tmp_path: Path, option: str
) -> None:
    starts, go = tmp_path / "starts", tmp_path / "go"
    await lab.make_cluster(ONE)
    await lab.submit("job", **custom(f"echo $$ >> {starts}; while [ ! -e {go} ]; do sleep 0.05; done"))

    async def running() -> bool:
        return starts.exists()

    async def empty() -> bool:
        cluster = await lab.cluster()
        return bool(cluster.current_node_count == 0 and cluster.allocation_state == "steady")

    await until(running)
    changed = await scale(lab, 0, option)
    assert changed.scale_settings.manual.node_deallocation_option == option
    if option == "waitforjobcompletion":
        await asyncio.sleep(0.5)
        assert (await lab.job("job")).execution_state == "running"
        go.touch()
    await until(empty)
    job = await lab.job("job")

    if option == "requeue":
        assert (job.execution_state, job.execution_info) == ("queued", None)
        go.touch()
        await scale(lab, 1, option)
        job = await lab.ends("job")
    if option == "terminate":
        assert job.execution_info.errors[0].code == "JobTerminated"
    else:
        assert (job.execution_state, job.execution_info.exit_code) == ("succeeded", 0)
    assert len(starts.read_text().split()) == (2 if option == "requeue" else 1)


async def test_nodes_are_counted_by_their_states_while_a_cluster_grows_works_and_shrinks(
    lab: Lab, tmp_path: Path
) -> None:
    ready, go = tmp_path / "ready", tmp_path / "go"
    setup = {"commandLine": f"while [ ! -e {ready} ]; do sleep 0.05; done", "stdOutErrPathPrefix": "$HOME"}
    await lab.make_cluster(autoscale(2), nodeSetup={"setupTask": setup})

    async def counts() -> tuple[str, int, dict[str, int]]:
        cluster = await lab.cluster()
        result = cluster.node_state_counts.as_dict()
        shown = {name: count for name, count in result.items() if count}
        return cluster.allocation_state, cluster.current_node_count, shown

    async def reach(*expected: object) -> None:
        async def check() -> bool:
            return await counts() == expected

        await until(check)

    assert await counts() == ("steady", 0, {})
    await lab.submit("job", nodeCount=2, **custom(f"while [ ! -e {go} ]; do sleep 0.05; done"))
    await reach("steady", 2, {"preparing_node_count": 2})
    ready.touch()
    await reach("steady", 2, {"running_node_count": 2})
    go.touch()
    await reach("steady", 0, {})


def entries(directory: Path) -> list[str]:
    return [entry.name for entry in directory.iterdir()]


async def test_nothing_of_a_job_but_its_output_is_left_on_its_node(lab: Lab) -> None:
    await lab.make_cluster(ONE)
    leave = "touch $AZ_BATCHAI_JOB_TEMP/trace; echo $AZ_BATCHAI_JOB_MOUNT_ROOT; sleep 600 & disown"
    await lab.submit("first", **custom(leave))
    first = await lab.ends("first")
    mounts = (await lab.read("first", "stdout.txt")).strip()
    remaining = entries(Path(mounts))
    await lab.submit("second", **custom("find $AZ_BATCHAI_JOB_TEMP_DIR -name trace; echo looked"))
    await lab.ends("second")

    assert first.execution_state == "succeeded", first.execution_info.errors
    assert remaining == []
    assert await lab.read("second", "stdout.txt") == "looked\n"
    instance = first.job_output_directory_path_segment.rpartition("/")[2]
    assert [name for name in entries(lab.emulator.data / "tasks") if instance in name] == []


async def test_a_name_that_is_free_again_is_another_job(lab: Lab) -> None:
    await lab.make_cluster(ONE)
    await lab.submit("job", **custom("echo first"))
    first = await lab.ends("job")
    await (await lab.client.jobs.begin_delete(*lab.place, "job")).result()
    await lab.submit("job", **custom("echo second"))
    second = await lab.ends("job")

    assert first.job_output_directory_path_segment != second.job_output_directory_path_segment
    assert await lab.read("job", "stdout.txt") == "second\n"
