"""Volumes of jobs on the emulator of Azure Batch, whose nodes may mount nothing: shares, and real blobs."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from azure.storage.blob import ContainerClient

from local.azurite import ACCOUNT, KEY, Azurite
from local.nodes.programs import install
from shared.core.job import JobState, Reason
from shared.engines.batch.engine import BatchEngine
from tests.breadth import every_few
from tests.contract.azurebatch.on_batch import account, engine_on
from tests.contract.azurebatch.storage import container
from tests.contract.azurebatch.test_gangs import ended, order, until

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class World:
    """An engine, the folder of what its nodes mount, and a container."""

    engine: BatchEngine
    volumes: Path
    blobs: ContainerClient

    def mounts(self, key: str = KEY) -> dict[str, Any]:
        of_account = {"accountName": ACCOUNT, "credentials": {"accountKey": key}}
        url = f"https://{ACCOUNT}.file.core.windows.net/data"
        share = {"azureFileUrl": url, "relativeMountPath": "data"}
        blobs = {"containerName": self.blobs.container_name, "relativeMountPath": "blobs"}
        return {
            "azureFileShares": [{**of_account, **share}],
            "azureBlobFileSystems": [{**of_account, **blobs}],
        }


@pytest_asyncio.fixture(loop_scope="session")
async def world(tmp_path: Path, storage: Azurite) -> AsyncIterator[World]:
    volumes = tmp_path / "volumes"
    path = f"{install(volumes, storage.connection_string)}:{os.environ['PATH']}"
    (volumes / "shares" / ACCOUNT / "data").mkdir(parents=True)
    (volumes / "shares" / ACCOUNT / "data/there").write_text("share\n")
    blobs = container(storage, f"c{uuid.uuid4().hex}")
    blobs.upload_blob("in/there", b"container\n")
    async with account(tmp_path / "batch") as running:
        engine = await engine_on(running, path=path, max_nodes=2)
        yield World(engine, volumes, blobs)
        await engine.close()


@pytest.mark.parametrize("nodes", every_few([1, 2], 1))
async def test_a_job_reads_and_writes_its_volumes(world: World, nodes: int) -> None:
    reading = "cd $AZ_BATCHAI_JOB_MOUNT_ROOT && cat data/there blobs/in/there"
    command = f"{reading} >data/copied && echo new >blobs/written"
    job = order({"mountVolumes": world.mounts(), "customToolkitSettings": {"commandLine": command}}, nodes)
    await world.engine.submit(job)
    end = await until(world.engine, job.target, ended)

    assert (end.state, end.message) == (JobState.SUCCEEDED, "")
    assert (world.volumes / "shares" / ACCOUNT / "data/copied").read_text() == "share\ncontainer\n"
    assert world.blobs.download_blob("written").readall() == b"new\n", "at the latest when it is unmounted"
    assert not list((world.volumes / "containers").iterdir())


async def test_a_job_changes_nothing_in_a_container_that_it_only_reads(world: World) -> None:
    mounts = world.mounts()
    mounts["azureBlobFileSystems"][0]["mountOptions"] = "-o ro"
    command = "cd $AZ_BATCHAI_JOB_MOUNT_ROOT/blobs && cat in/there && (echo new >written; rm -f in/there; :)"
    job = order({"mountVolumes": mounts, "customToolkitSettings": {"commandLine": command}}, 1)
    await world.engine.submit(job)
    end = await until(world.engine, job.target, ended)

    assert (end.state, end.message) == (JobState.SUCCEEDED, "")
    assert set(world.blobs.list_blob_names()) == {"in/there"}


async def test_a_wrong_key_mounts_nothing(world: World) -> None:
    job = order(
        {"mountVolumes": world.mounts("d3Jvbmc="), "customToolkitSettings": {"commandLine": "true"}}, 1
    )
    await world.engine.submit(job)
    end = await until(world.engine, job.target, ended)

    assert (end.state, end.reason) == (JobState.FAILED, Reason.PREPARATION)
    assert "mount error(13): Permission denied; check its name, the key of its account" in end.message
