"""What an upload makes of the files that an earlier one left in its folder, against Azurite."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from azure.storage.blob.aio import BlobServiceClient, ContainerClient

from local.azurite import Azurite
from shared.settings import Settings
from slipway.client.drops.upload import upload
from slipway.failure import Failure

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class World:
    """A drop container, in which an earlier upload left d/train.py and d/slipway.json."""

    settings: Settings
    container: ContainerClient

    async def has_envelope(self) -> bool:
        return await self.container.get_blob_client("d/slipway.json").exists()


@pytest_asyncio.fixture(loop_scope="session")
async def world(storage: Azurite) -> AsyncIterator[World]:
    name = f"u{uuid.uuid4().hex[:12]}"
    values = {"SLIPWAY_STORAGE": storage.connection_string, "SLIPWAY_DROP_CONTAINER": name}
    async with BlobServiceClient.from_connection_string(storage.connection_string) as service:
        container = await service.create_container(name)
        for blob in ("d/train.py", "d/slipway.json"):
            await container.upload_blob(blob, b"{}")
        yield World(Settings(values), container)


async def test_a_drop_keeps_the_envelope_of_an_earlier_upload(world: World, tmp_path: Path) -> None:
    (tmp_path / "job.json").touch()

    await upload(world.settings, tmp_path, "d")

    assert await world.has_envelope()


async def test_files_go_up_several_at_once_and_those_that_begin_a_job_last(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["job.json", "slipway.json", "train.py", *(f"part-{n:03d}.txt" for n in range(40))]
    for name in names:
        (tmp_path / name).write_bytes(name.encode())

    uploaded = await upload(world.settings, tmp_path, "many")

    blobs = [blob async for blob in world.container.list_blobs(name_starts_with="many/")]
    assert {blob.name for blob in blobs} == {f"many/{name}" for name in names}
    assert list(uploaded.digests)[-2:] == ["many/slipway.json", "many/job.json"]
    digests = {f"many/{name}": hashlib.sha256(name.encode()).hexdigest() for name in names}
    assert uploaded.digests == digests
    newest = max(blob.last_modified for blob in blobs)
    assert {blob.last_modified for blob in blobs if blob.name == "many/job.json"} == {newest}
    assert capsys.readouterr().err == ""


async def test_an_error_ends_an_upload_before_its_job_can_begin(world: World, tmp_path: Path) -> None:
    for name in ("job.json", "train.py", *(f"part-{n:03d}.txt" for n in range(40))):
        (tmp_path / name).touch()
    lease = await world.container.get_blob_client("d/train.py").acquire_lease()

    with pytest.raises(Failure):
        await upload(world.settings, tmp_path, "d")
    await lease.release()

    assert not await world.container.get_blob_client("d/job.json").exists()
