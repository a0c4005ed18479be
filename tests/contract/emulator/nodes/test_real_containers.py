"""Jobs in real containers, where SLIPWAY_CONTAINER_RUNTIME names a runtime that answers: docker or podman.

The image is made of Debian's package busybox-static.
"""

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from local.azurite import Azurite
from tests.contract.emulator.conftest import Emulator, custom, until
from tests.contract.emulator.nodes.test_containers import image, working
from tests.contract.emulator.recorder import Recorder

_REAL = os.environ.get("SLIPWAY_CONTAINER_RUNTIME", "")
_IMAGE = "localhost/slipway-test:1"
_APPLETS = ("sh", "cat", "sleep", "env", "kill", "find", "chown", "id", "sha256sum", "cut", "true")


@pytest.fixture
def real_image(tmp_path: Path) -> None:
    """An image of one program, imported into the runtime."""
    if not _REAL:
        pytest.skip("SLIPWAY_CONTAINER_RUNTIME is not set: docker or podman, to run jobs in real containers")
    assert shutil.which(_REAL), f"there is no {_REAL}"
    busybox = shutil.which("busybox")
    assert busybox, "the image is made of busybox: apt-get install busybox-static"
    root = tmp_path / "root"
    for folder in ("bin", "etc", "tmp", "root"):
        (root / folder).mkdir(parents=True)
    shutil.copy(busybox, root / "bin" / "busybox")
    for name in _APPLETS:
        (root / "bin" / name).symlink_to("busybox")
    (root / "bin" / "bash").write_text('#!/bin/sh\nexec sh "$@"\n')
    (root / "bin" / "bash").chmod(0o755)
    (root / "etc" / "of-the-image").touch()
    with tarfile.open(tmp_path / "image.tar", "w") as archive:
        archive.add(root, arcname=".")
    subprocess.run([_REAL, "import", tmp_path / "image.tar", _IMAGE], check=True, capture_output=True)


@pytest.fixture
def real(tmp_path: Path, storage: Azurite, blobs: object, recorder: Recorder, real_image: None) -> Emulator:
    """An emulator with a real runtime, still to be started."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return Emulator(tmp_path / "batchai", storage, recorder, flags=("--containers", "require"), env=env)


def real_containers() -> list[str]:
    argv = [_REAL, "ps", "--all", "--filter", "name=slipway-", "--format", "{{.Names}}"]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split()


async def test_jobs_run_in_real_containers(real: Emulator) -> None:
    async with working(real, 2) as lab:
        text = "ls /etc/of-the-image; cat prepared; id -u; echo $AZ_BATCHAI_TASK_INDEX of $AZ_BATCH_HOST_LIST"
        await lab.submit(
            "job",
            **image(
                _IMAGE,
            ),
            nodeCount=2,
            jobPreparation={"commandLine": "echo prepared > prepared"},
            pyTorchSettings={
                "pythonScriptFilePath": "-c",
                "pythonInterpreterPath": "sh",
                "commandLineArgs": f"'{text}'",
            },
        )
        job = await lab.ends("job")

        assert job.execution_state == "succeeded", job.execution_info.errors
        for rank in (0, 1):
            output = await lab.read("job", f"stdout-{rank}.txt")
            assert output == f"/etc/of-the-image\nprepared\n0\n{rank} of 127.0.1.1,127.0.1.2\n"
        assert real_containers() == []


async def test_a_job_in_a_real_container_may_tidy_up_when_it_is_terminated(
    real: Emulator, tmp_path: Path
) -> None:
    async with working(real) as lab:
        command = "trap 'echo asked; exit 0' TERM; echo started; while :; do sleep 0.1; done"
        await lab.submit("job", **image(_IMAGE), **custom(command))

        async def output(text: str) -> bool:
            return "stdout.txt" in await lab.files("job") and text in await lab.read("job", "stdout.txt")

        await until(lambda: output("started"))
        poller = await lab.client.jobs.begin_terminate(*lab.place, "job")
        await poller.result()
        job = await lab.ends("job")

        assert job.execution_info.errors[0].code == "JobTerminated"
        assert await output("asked")
        assert real_containers() == []


async def test_killed_and_started_again_the_emulator_finds_a_real_container(
    real: Emulator, tmp_path: Path
) -> None:
    async with working(real) as lab:
        go = real.data / "nodes" / "1" / "go"
        command = f"echo started; while [ ! -e {go} ]; do sleep 0.1; done; exit 6"
        await lab.submit("job", **image(_IMAGE), **custom(command))

        async def started() -> bool:
            return "stdout.txt" in await lab.files("job") and bool(await lab.read("job", "stdout.txt"))

        await until(started)
        await real.kill()
        await real.start()
        go.touch()

        assert (await lab.ends("job")).execution_info.exit_code == 6
        assert await lab.read("job", "stdout.txt") == "started\n"
        assert real_containers() == []
