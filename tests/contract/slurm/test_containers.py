"""Blob containers as directories of the nodes, against real storage."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob import StandardBlobTier
from azure.storage.blob.aio import ContainerClient

from local.azurite import Azurite
from local.mirror import MirrorError
from local.mirrored import directory, mirrored

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def container(storage: Azurite) -> AsyncIterator[ContainerClient]:
    async with ContainerClient.from_connection_string(storage.connection_string, "nodes") as client:
        await client.create_container()
        yield client
        await client.delete_container()


async def test_what_was_uploaded_is_there_and_what_nodes_write_is_uploaded(
    storage: Azurite, container: ContainerClient, tmp_path: Path
) -> None:
    await container.upload_blob("a/before.txt", b"before")
    place = directory(tmp_path, "nodes")

    async with mirrored(tmp_path, storage.connection_string, ["nodes"]):
        assert (place / "a" / "before.txt").read_bytes() == b"before"
        await container.upload_blob("later.txt", b"later")
        (place / "model.txt").write_bytes(b"model")

        async with asyncio.timeout(120):
            while not (place / "later.txt").exists():  # noqa: ASYNC110 - storage tells no one
                await asyncio.sleep(0.1)
            while await content(container, "model.txt") != b"model":  # noqa: ASYNC110
                await asyncio.sleep(0.1)


async def test_what_is_written_into_a_directory_that_is_only_read_never_reaches_its_container(
    container: ContainerClient, storage: Azurite, tmp_path: Path
) -> None:
    await container.upload_blob("theirs/job.json", b"theirs")
    place = directory(tmp_path, "nodes")

    async with mirrored(tmp_path, storage.connection_string, [], read=["nodes"]):
        (place / "theirs" / "evil").mkdir()
        (place / "theirs" / "evil" / "job.json").write_bytes(b"mine")
        (place / "theirs" / "job.json").write_bytes(b"changed")
        for number in range(3):  # each time its directory follows, after what it would have sent
            await container.upload_blob(f"later-{number}", b"x")
            async with asyncio.timeout(120):
                while not (place / f"later-{number}").exists():  # noqa: ASYNC110 - storage tells no one
                    await asyncio.sleep(0.1)

    assert await content(container, "theirs/job.json") == b"theirs"
    assert await content(container, "theirs/evil/job.json") is None


async def test_a_blob_that_no_node_can_see_is_named_once(
    storage: Azurite, container: ContainerClient, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await container.upload_blob("a/cold.bin", b"x", standard_blob_tier=StandardBlobTier.ARCHIVE)

    async with mirrored(tmp_path, storage.connection_string, ["nodes"]):
        await container.upload_blob("later.txt", b"later")
        async with asyncio.timeout(120):
            while not (directory(tmp_path, "nodes") / "later.txt").exists():  # noqa: ASYNC110
                await asyncio.sleep(0.1)

    (record,) = [one for one in caplog.records if one.name == "local.mirrored"]
    assert "1 blob is not shown" in record.message
    assert "'a/cold.bin'" in record.message


async def test_a_container_that_is_not_there_is_named(storage: Azurite, tmp_path: Path) -> None:
    with pytest.raises(MirrorError, match="missing"):
        async with mirrored(tmp_path, storage.connection_string, ["missing"]):
            pass


async def content(container: ContainerClient, name: str) -> bytes | None:
    try:
        return await (await container.download_blob(name)).readall()
    except ResourceNotFoundError:
        return None
