"""What an emulator that is stopped or killed leaves for the next one."""

import asyncio
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest

from tests.contract.emulator.conftest import Lab, alive, autoscale, custom, until


async def test_killed_in_the_middle_of_a_job_it_finds_the_job_again(own_lab: Lab, tmp_path: Path) -> None:
    await own_lab.make_cluster(autoscale(1))
    starts, go = tmp_path / "starts", tmp_path / "go"
    command = f"echo $$ >> {starts}; while [ ! -e {go} ]; do sleep 0.05; done; echo done; exit 5"
    await own_lab.submit("ended", **custom("true"))
    await own_lab.ends("ended")
    await own_lab.submit("running", **custom(command))
    await own_lab.submit("queued", **custom("true"))

    async def started() -> bool:
        return starts.exists()

    await until(started)
    segment = (await own_lab.job("running")).job_output_directory_path_segment

    await own_lab.emulator.kill()
    await own_lab.emulator.start()
    states = [(await own_lab.job(name)).execution_state for name in ("ended", "running", "queued")]
    go.touch()
    job = await own_lab.ends("running")

    assert states == ["succeeded", "running", "queued"]
    assert job.execution_info.exit_code == 5
    assert job.job_output_directory_path_segment == segment
    assert len(starts.read_text().split()) == 1
    assert await own_lab.read("running", "stdout.txt") == "done\n"
    assert (await own_lab.ends("queued")).execution_state == "succeeded"


async def test_a_job_that_ends_while_no_one_looks_keeps_its_exit_code(own_lab: Lab, tmp_path: Path) -> None:
    await own_lab.make_cluster(autoscale(1))
    starts, go, end = tmp_path / "starts", tmp_path / "go", tmp_path / "end"
    wait = f"echo $$ >> {starts}; while [ ! -e {go} ]; do sleep 0.05; done"
    await own_lab.submit("job", **custom(f"{wait}; touch {end}; exit 6"))

    async def started() -> bool:
        return starts.exists()

    async def is_over() -> bool:
        return end.exists() and not alive(starts.read_text())

    await until(started)
    await own_lab.emulator.kill()
    go.touch()
    await until(is_over)
    await own_lab.emulator.start()

    assert (await own_lab.ends("job")).execution_info.exit_code == 6
    assert len(starts.read_text().split()) == 1


async def test_stopped_it_ends_its_processes_and_runs_the_job_again_later(
    own_lab: Lab, tmp_path: Path
) -> None:
    await own_lab.make_cluster(autoscale(1))
    starts, go = tmp_path / "starts", tmp_path / "go"
    await own_lab.submit("job", **custom(f"echo $$ >> {starts}; [ -e {go} ] || sleep 600"))

    async def started() -> str:
        return starts.read_text().strip() if starts.exists() else ""

    pid = await until(started)
    await own_lab.emulator.stop()
    assert not alive(pid)

    go.touch()
    await own_lab.emulator.start()

    assert (await own_lab.ends("job")).execution_state == "succeeded"
    assert len(starts.read_text().split()) == 2


@pytest.mark.thorough
async def test_an_operation_is_still_known_after_a_restart(own_lab: Lab) -> None:
    await own_lab.make_cluster({"manual": {"targetNodeCount": 0}})
    await own_lab.submit("job", **custom("true"))
    status, _, headers = await own_lab.send("POST", f"{own_lab.path}/experiments/digits/jobs/job/terminate")
    assert status == 202
    path = headers["Azure-AsyncOperation"].split("?")[0].removeprefix(own_lab.emulator.url)

    await own_lab.emulator.kill()
    await own_lab.emulator.start()

    status, body, _ = await own_lab.send("GET", path)
    assert (status, body["status"]) == (200, "Succeeded")


@pytest.mark.thorough
async def test_killed_in_a_burst_of_requests_it_loses_nothing_that_it_acknowledged(own_lab: Lab) -> None:
    await own_lab.make_cluster({"manual": {"targetNodeCount": 0}})
    acknowledged: list[str] = []

    async def make(number: int) -> None:
        name = f"job-{number}"
        path = f"{own_lab.path}/experiments/digits/jobs/{name}"
        with suppress(aiohttp.ClientError):
            status, _, _ = await own_lab.send("PUT", path, json=own_lab.job_body(**custom("true")))
            if status == 202:
                acknowledged.append(name)

    burst = asyncio.gather(*(make(number) for number in range(200)))

    async def some() -> bool:
        return len(acknowledged) > 20

    await until(some)
    await own_lab.emulator.kill()
    await burst
    await own_lab.emulator.start()

    listed = {job.name async for job in own_lab.client.jobs.list_by_experiment(*own_lab.place)}
    assert set(acknowledged) <= listed


@pytest.mark.thorough
async def test_killed_at_any_moment_it_runs_every_job_once_and_to_its_end(
    own_lab: Lab, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    await own_lab.make_cluster(autoscale(2))
    names = [f"job-{number}" for number in range(6)]
    for name in names:
        await own_lab.submit(name, **custom(f"echo {name} >> {starts}; sleep 0.3; echo done"))

    for moment in (0.05, 0.2, 0.4, 0.7):
        await asyncio.sleep(moment)
        await own_lab.emulator.kill()
        await own_lab.emulator.start()
    jobs = [await own_lab.ends(name) for name in names]

    assert [job.execution_info.exit_code for job in jobs] == [0] * len(names)
    assert sorted(starts.read_text().split()) == names
    assert [await own_lab.read(name, "stdout.txt") for name in names] == ["done\n"] * len(names)
