"""Volumes that the nodes of Azure Batch mount for a job: real mounts, by programs of the tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from shared.core.engine import Observation
from shared.core.job import JobState, Reason
from shared.engines.batch.engine import BatchEngine
from tests.breadth import every_few
from tests.contract.azurebatch.on_batch import account, engine_on
from tests.contract.azurebatch.test_gangs import ended, order, text, until

_PROGRAM = Path(__file__).with_name("mounter")
KEY = "right-canary"
SERVER = "/subscriptions/s/fileservers/nfs1"


def _may_mount() -> bool:
    """Whether this process may mount: containers of CI may lack the right, also for root."""
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0


pytestmark = pytest.mark.skipif(not _may_mount(), reason="mounting takes root with CAP_SYS_ADMIN")


@dataclass
class World:
    """An engine whose nodes have programs that mount what is in `volumes`."""

    engine: BatchEngine
    home: Path

    def calls(self, program: str = "") -> list[dict[str, Any]]:
        lines = (self.home / "calls").read_text().splitlines()
        return [one for one in map(json.loads, lines) if one["program"].startswith(program)]

    def mounted(self) -> list[str]:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
        return [point for point in (line.split()[4] for line in lines) if point.startswith(f"{self.home}/")]

    async def run(self, block: dict[str, Any], nodes: int = 1) -> tuple[Any, Observation]:
        job = order(block, nodes)
        await self.engine.submit(job)
        return job.target, await until(self.engine, job.target, ended)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    for name in ("training", "models", "home", "fs"):
        (tmp_path / "volumes" / name).mkdir(parents=True)
        (tmp_path / "volumes" / name / "there").write_text(f"{name}\n")
    (tmp_path / "bin").mkdir()
    for name in ("mount.cifs", "mount.nfs", "blobfuse2"):
        shutil.copy(_PROGRAM, tmp_path / "bin" / name)
    yield tmp_path
    for line in reversed(Path("/proc/self/mountinfo").read_text().splitlines()):
        if line.split()[4].startswith(f"{tmp_path}/"):
            subprocess.run(["umount", "-l", line.split()[4]], check=False)


@pytest_asyncio.fixture
async def world(home: Path) -> AsyncIterator[World]:
    async with account(home / "batch") as running:
        path = f"{home / 'bin'}:{os.environ['PATH']}"
        mounts = {SERVER: "nfs://10.0.0.5/exports"}
        engine = await engine_on(running, path=path, max_nodes=2, min_nodes=1, mounts=mounts, identity="id-1")
        yield World(engine, home)
        await engine.close()


def share(key: str = KEY, name: str = "training") -> dict[str, Any]:
    url = f"https://acct.file.core.windows.net/{name}"
    at = {"relativeMountPath": "data", "fileMode": "0640", "credentials": {"accountKey": key}}
    return {"azureFileShares": [{"accountName": "acct", "azureFileUrl": url, **at}]}


def everything(home: Path) -> dict[str, Any]:
    container = {"accountName": "acct", "containerName": "models", "relativeMountPath": "in/models"}
    server = {"fileServer": {"id": SERVER}, "sourceDirectory": "home", "relativeMountPath": "nfs"}
    command = {"mountCommand": f"mount --bind {home}/volumes/fs", "relativeMountPath": "lustre"}
    return {
        **share(),
        "azureBlobFileSystems": [{**container, "mountOptions": "-o ro"}],
        "fileServers": [{**server, "mountOptions": "ro,nolock"}],
        "unmanagedFileSystems": [command],
    }


_READ = "cd $AZ_BATCHAI_JOB_MOUNT_ROOT && cat data/there in/models/there nfs/there lustre/there"


async def test_a_job_reads_and_writes_what_its_node_mounts_for_it(world: World) -> None:
    command = f"{_READ} && echo kept >data/new && ! touch in/models/no 2>&1 && ! touch nfs/no 2>&1 && env"
    target, end = await world.run(
        {
            "mountVolumes": everything(world.home),
            "jobPreparation": {"commandLine": _READ},
            "outputDirectories": [{"id": "OUT", "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/data"}],
            "customToolkitSettings": {"commandLine": command},
        }
    )

    assert (end.state, end.message) == (JobState.SUCCEEDED, "")
    contents = "training\nmodels\nhome\nfs\n"
    assert await text(world.engine, target, "stdout-job_prep.txt") == contents
    assert (await text(world.engine, target, "stdout.txt")).startswith(contents)
    assert KEY not in await text(world.engine, target, "stdout.txt")
    assert "The container acct/models at" in await text(world.engine, target, "execution.log")
    assert (world.home / "volumes/training/new").read_text() == "kept\n", "what a job wrote stays"
    assert list((world.home / "volumes/training").glob("**/outputs"))
    assert not world.mounted()
    assert not list((world.home / "batch/shared/nodes").glob("*/*.mounts"))


async def test_the_programs_get_no_key_but_in_a_file_of_their_own(world: World) -> None:
    _, end = await world.run(
        {"mountVolumes": everything(world.home), "customToolkitSettings": {"commandLine": _READ}}
    )

    (cifs,), (nfs,), (blobs,) = map(world.calls, ("mount.cifs", "mount.nfs", "blobfuse2"))
    assert end.state is JobState.SUCCEEDED
    assert not any(KEY in json.dumps(call["words"]) for call in world.calls())
    assert all(set(call["environment"]) <= {"PATH", "HOME", "LANG", "LC_CTYPE"} for call in world.calls())
    assert cifs["words"][0] == "//acct.file.core.windows.net/training"
    assert cifs["words"][3].partition(",")[2] == (
        "vers=3.1.1,file_mode=0640,dir_mode=0777,serverino,mfsymlinks,nosharesock,actimeo=30"
    )
    assert nfs["words"][0] == "10.0.0.5:/exports/home"
    assert nfs["words"][2:] == ["-o", "ro,nolock"]
    assert blobs["config"]["read-only"] is True
    assert (blobs["config"]["azstorage"]["mode"], blobs["config"]["azstorage"]["appid"]) == ("msi", "id-1")
    assert (cifs["mode"], blobs["mode"]) == ("0o600", "0o600")
    assert not list((world.home / "batch").glob("**/secret-*"))


@pytest.mark.parametrize(
    ("volumes", "reason"),
    every_few(
        [
            (share("wrong-canary"), "mount error(13): Permission denied for ***"),
            (share(name="missing"), "mount error(2): No such file or directory"),
            (share(""), "no key of its account is known"),
        ],
        0,
    ),
)
async def test_what_cannot_be_mounted_ends_the_job_with_its_name_the_reason_and_a_remedy(
    world: World, volumes: dict[str, Any], reason: str
) -> None:
    mark = world.home / "ran"
    block = {"customToolkitSettings": {"commandLine": f"touch {mark}"}}
    _, end = await world.run({"mountVolumes": volumes, **block})

    url = volumes["azureFileShares"][0]["azureFileUrl"]
    assert (end.state, end.reason, end.exit_code) == (JobState.FAILED, Reason.PREPARATION, 1)
    assert end.message.startswith(
        f"The share {url} could not be mounted at $AZ_BATCHAI_JOB_MOUNT_ROOT/data on "
    )
    assert f": {reason}; check its name, the key of its account" in end.message
    assert not world.mounted()
    assert not mark.exists()


async def test_a_missing_program_is_named_with_its_package(world: World) -> None:
    (world.home / "bin/mount.cifs").unlink()
    if shutil.which("mount.cifs"):
        pytest.skip("this machine has a mount.cifs of its own")
    _, end = await world.run({"mountVolumes": share(), "customToolkitSettings": {"commandLine": "true"}})

    assert "there is no mount.cifs: install cifs-utils, in the start task or the image" in end.message


@pytest.mark.thorough
async def test_every_node_of_a_job_mounts(world: World) -> None:
    script = world.home / "look.py"
    script.write_text(
        "import os; print(open(os.environ['AZ_BATCHAI_JOB_MOUNT_ROOT'] + '/data/there').read())"
    )
    block = {"pythonScriptFilePath": str(script), "pythonInterpreterPath": "python3"}
    _, end = await world.run({"mountVolumes": share(), "caffe2Settings": block}, 2)

    assert (end.state, end.message) == (JobState.SUCCEEDED, "")
    assert not world.mounted()


@pytest.mark.thorough
async def test_what_a_killed_run_has_mounted_is_taken_away_by_the_next_job_on_its_node(world: World) -> None:
    await world.run({"mountVolumes": share(), "customToolkitSettings": {"commandLine": "kill -9 $PPID"}})
    assert world.mounted(), "the run was killed before it could end"

    _, end = await world.run({"customToolkitSettings": {"commandLine": "true"}})

    assert end.state is JobState.SUCCEEDED
    assert not world.mounted()
    assert (world.home / "volumes/training/there").exists()


async def test_what_a_job_mounts_by_itself_is_not_emptied_with_its_directories(world: World) -> None:
    command = f"mkdir own && mount --bind {world.home}/volumes/fs own"
    await world.run({"customToolkitSettings": {"commandLine": command}})

    assert (world.home / "volumes/fs/there").exists()
