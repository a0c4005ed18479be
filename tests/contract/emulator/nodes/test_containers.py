"""Jobs with an image: in containers of a runtime, on the host without one, or refused.

The runtime is a program of the tests, which stands in for Docker at the wire.
"""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from local.azurite import Azurite
from tests.contract.emulator.conftest import Emulator, Lab, alive, autoscale, custom, until
from tests.contract.emulator.recorder import Recorder

_RUNTIMES = Path(__file__).parents[1] / "runtimes"
CANARY = "red-bird-0815"


def image(name: str, **more: Any) -> dict[str, Any]:
    return {"containerSettings": {"imageSourceRegistry": {"image": name, **more}}}


class FakeRuntime:
    """The stand-in, seen from the outside."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir()
        self.env = {"PATH": f"{_RUNTIMES}:{os.environ['PATH']}", "FAKE_ENGINE": str(home)}

    def calls(self, *verbs: str) -> list[dict[str, Any]]:
        text = (self.home / "calls").read_text()
        document = [json.loads(line) for line in text.splitlines()]
        return [call for call in document if call["argv"][0] in verbs]

    def containers(self) -> list[str]:
        folder = self.home / "containers"
        return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def common(
    tmp_path_factory: pytest.TempPathFactory, storage: Azurite, blobs: object, recorder: Recorder
) -> AsyncIterator[tuple[Emulator, FakeRuntime]]:
    """One emulator and its runtime, for the tests that neither stop nor configure them."""
    folder = tmp_path_factory.mktemp("containers")
    runtime = FakeRuntime(folder / "runtime")
    emulator = Emulator(folder / "batchai", storage, recorder, flags=(), env=runtime.env)
    await emulator.start()
    yield emulator, runtime
    await emulator.stop()


@pytest.fixture
def shared(common: tuple[Emulator, FakeRuntime]) -> FakeRuntime:
    """The runtime of the common emulator, which has been called for nothing yet in this test."""
    _, runtime = common
    assert runtime.containers() == []
    (runtime.home / "calls").write_text("")
    return runtime


@pytest.fixture
def lab(common: tuple[Emulator, FakeRuntime], shared: FakeRuntime, request: pytest.FixtureRequest) -> Lab:
    return Lab(common[0], f"w{abs(hash(request.node.nodeid))}")


@pytest.fixture
def runtime(tmp_path: Path) -> FakeRuntime:
    return FakeRuntime(tmp_path / "runtime")


@pytest.fixture
def place(
    tmp_path: Path, storage: Azurite, blobs: object, recorder: Recorder, runtime: FakeRuntime
) -> Emulator:
    """An emulator that is still to be started."""
    return Emulator(tmp_path / "batchai", storage, recorder, flags=(), env=runtime.env)


@asynccontextmanager
async def working(emulator: Emulator, nodes: int = 1) -> AsyncIterator[Lab]:
    await emulator.start()
    lab = Lab(emulator, "dev")
    try:
        await lab.make_cluster(autoscale(nodes))
        yield lab
    finally:
        await emulator.stop()


async def test_a_job_runs_in_a_container_with_its_environment_files_and_exit_code(
    lab: Lab, shared: FakeRuntime
) -> None:
    await lab.make_cluster(autoscale(1))
    await lab.submit(
        "job",
        **image("tools:1"),
        jobPreparation={"commandLine": "echo prepared > prepared"},
        environmentVariables=[{"name": "TEXT", "value": "two\nlines"}],
        secrets=[{"name": "TOKEN", "value": CANARY}],
        **custom('cat prepared; echo "$OF_THE_IMAGE $HOME $TEXT"; [ ${#TOKEN} = 13 ] && exit 5'),
    )
    job = await lab.ends("job")
    log = await lab.read("job", "execution.log")

    assert (job.execution_info.exit_code, job.execution_info.errors[0].code) == (5, "JobFailed")
    assert await lab.read("job", "stdout.txt") == "prepared\nyes /root two\nlines\n"
    assert "Starting a container of the image tools:1 on each node, by docker" in log
    assert shared.containers() == []
    (run,) = shared.calls("run")
    volumes = [word.split(":")[0] for word in run["argv"] if word.startswith(str(lab.emulator.data))]
    assert volumes == [
        str(lab.emulator.data / "nodes" / "1"),
        str(lab.emulator.data / "blobs" / "devstoreaccount1" / "out" / "files"),
    ]
    assert CANARY not in str([call["argv"] for call in shared.calls("run", "exec", "pull", "stop", "rm")])


@pytest.mark.thorough
async def test_each_node_has_its_own_container(lab: Lab, shared: FakeRuntime) -> None:
    await lab.make_cluster(autoscale(2))
    script = {
        "pythonScriptFilePath": "-c",
        "pythonInterpreterPath": "echo",
        "commandLineArgs": "$AZ_BATCHAI_TASK_INDEX",
    }
    await lab.submit("job", nodeCount=2, pyTorchSettings=script, **image("tools"))
    job = await lab.ends("job")

    assert job.execution_state == "succeeded", job.execution_info.errors
    assert [await lab.read("job", f"stdout-{rank}.txt") for rank in (0, 1)] == ["-c 0\n", "-c 1\n"]
    names = [call["argv"][call["argv"].index("--name") + 1] for call in shared.calls("run")]
    assert sorted(name[-2:] for name in names) == ["-0", "-1"]
    assert shared.containers() == []


async def test_a_private_image_is_fetched_with_its_password_which_nothing_keeps(
    lab: Lab, shared: FakeRuntime
) -> None:
    credentials = {"username": "me", "password": "right"}
    wrong = {"username": "me", "password": CANARY}
    source = {"serverUrl": "https://acct.azurecr.io"}
    await lab.make_cluster(autoscale(1))
    await lab.submit("wrong", **image("private/tools", credentials=wrong, **source), **custom("true"))
    failed = await lab.ends("wrong")
    await lab.submit("right", **image("private/tools", credentials=credentials, **source), **custom("true"))
    done = await lab.ends("right")
    await lab.submit("again", **image("private/tools"), **custom("true"))
    again = await lab.ends("again")

    (error,) = failed.execution_info.errors
    assert (error.code, error.details[0].value) == ("FailedStartingContainer", "private/tools")
    assert "incorrect username or password" in error.message
    assert (done.execution_state, again.execution_state) == ("succeeded", "succeeded")
    login = shared.calls("login")[-1]
    assert login["argv"] == ["login", "--username", "me", "--password-stdin", "acct.azurecr.io"]
    assert login["docker_host"] == "unix:///var/run/docker.sock"
    assert len(shared.calls("pull")) == 1
    assert not (shared.home / "config.json").exists()
    assert CANARY not in error.message


@pytest.mark.thorough
async def test_a_job_without_an_image_takes_no_notice_of_one_of_its_name_that_had_one(
    lab: Lab,
) -> None:
    await lab.make_cluster(autoscale(1, least=1))
    await lab.submit("job", **image("tools"), **custom("true"))
    await lab.ends("job")
    await (await lab.client.jobs.begin_delete(*lab.place, "job")).result()
    await lab.submit("job", **custom("echo on ${OF_THE_IMAGE:-the host}"))
    await lab.ends("job")

    assert await lab.read("job", "stdout.txt") == "on the host\n"


async def test_a_container_that_does_not_start_fails_the_job_with_what_the_runtime_said(
    lab: Lab,
) -> None:
    await lab.make_cluster(autoscale(2))
    await lab.submit("job", nodeCount=2, **image("broken"), **custom("true"))
    (error,) = (await lab.ends("job")).execution_info.errors

    assert error.code == "FailedStartingContainer"
    assert "no such file or directory" in error.message


async def test_what_an_image_lacks_is_reported(lab: Lab) -> None:
    await lab.make_cluster(autoscale(1))
    settings = {"languageType": "BrainScript", "configFilePath": "x.cntk"}
    await lab.submit("job", **image("tools"), cntkSettings=settings)
    (error,) = (await lab.ends("job")).execution_info.errors

    # The nodes have one, as PATH goes; the image has not.
    assert error.code == "ProgramNotInstalled"


async def test_terminating_a_job_ends_what_runs_in_its_container(
    lab: Lab, shared: FakeRuntime, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"

    async def started() -> str:
        return pid.read_text().strip() if pid.exists() else ""

    await lab.make_cluster(autoscale(1))
    await lab.submit("job", **image("tools"), **custom(f"echo $$ > {pid}; sleep 600"))
    number = await until(started)
    poller = await lab.client.jobs.begin_terminate(*lab.place, "job")
    await poller.result()
    job = await lab.ends("job")

    assert job.execution_info.errors[0].code == "JobTerminated"
    assert not alive(number)
    assert shared.containers() == []


@pytest.mark.thorough
async def test_killed_and_started_again_the_emulator_finds_the_container(
    place: Emulator, runtime: FakeRuntime, tmp_path: Path
) -> None:
    starts, go = tmp_path / "starts", tmp_path / "go"

    async def started() -> bool:
        return starts.exists()

    async with working(place) as lab:
        command = f"echo $$ >> {starts}; while [ ! -e {go} ]; do sleep 0.05; done; exit 6"
        await lab.submit("job", **image("tools"), **custom(command))
        await until(started)
        await place.kill()
        # No one may think of the host now, although no runtime answers.
        (runtime.home / "down").touch()
        await place.start()
        go.touch()
        job = await lab.ends("job")

    assert job.execution_info.exit_code == 6
    assert len(starts.read_text().split()) == 1
    assert len(runtime.calls("run")) == 1
    assert runtime.containers() == []


def without_others(place: Emulator, runtime: FakeRuntime) -> None:
    """Another runtime may be among this machine's programs."""
    programs = runtime.home / "programs"
    programs.mkdir()
    (programs / "python3").symlink_to(sys.executable)
    place.env = runtime.env | {"PATH": f"{_RUNTIMES}:{programs}"}


async def test_without_a_runtime_a_job_runs_on_the_host_and_its_log_says_so(
    place: Emulator, runtime: FakeRuntime
) -> None:
    without_others(place, runtime)
    (runtime.home / "down").touch()
    async with working(place) as lab:
        await lab.submit("job", **image("tools"), **custom("echo on ${OF_THE_IMAGE:-the host}"))
        await lab.ends("job")

        assert await lab.read("job", "stdout.txt") == "on the host\n"
        log = await lab.read("job", "execution.log")
        assert "The image tools is not used: no container runtime answers, the job runs on the host" in log


async def test_without_a_runtime_a_job_is_refused_by_setting(place: Emulator, runtime: FakeRuntime) -> None:
    place.flags = ("--containers", "require")
    without_others(place, runtime)
    async with working(place) as lab:
        path = f"{lab.path}/experiments/digits/jobs/job"
        (runtime.home / "down").touch()
        status, answer, _ = await lab.send("PUT", path, json=lab.job_body(**image("tools"), **custom("true")))
        plain, _, _ = await lab.send("PUT", f"{path}2", json=lab.job_body(**custom("true")))

    assert (status, answer["error"]["code"]) == (400, "ContainersNotSupported")
    assert answer["error"]["target"] == "/properties/containerSettings"
    assert "--containers auto" in answer["error"]["message"]
    assert plain == 202
