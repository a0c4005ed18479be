"""Jobs that share a container's directory, against a real Azurite."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath

import pytest
import pytest_asyncio
from azure.storage.blob.aio import BlobServiceClient, ContainerClient

from local.azurite import ACCOUNT, KEY
from local.nodes.mirrors import Mirrors
from local.nodes.settings import Account, NodeSettings
from local.nodes.volume import MountError, Volume


@pytest_asyncio.fixture(loop_scope="session")
async def container(blobs: BlobServiceClient) -> AsyncIterator[ContainerClient]:
    container = await blobs.create_container("shared")
    yield container
    await container.delete_container()


@pytest_asyncio.fixture(loop_scope="session")
async def mirrors(container: ContainerClient, tmp_path: Path) -> AsyncIterator[Mirrors]:
    account = Account(name=ACCOUNT, key=KEY, blob_endpoint=container.url.rsplit("/", 1)[0])
    mirrors = Mirrors(NodeSettings(data=tmp_path, account=account))
    yield mirrors
    await mirrors.close()


def volume_of(name: str, *, read_only: bool, holder: str = "") -> Volume:
    at = PurePosixPath("data")
    return Volume(kind="blob", account=ACCOUNT, name=name, at=at, key=KEY, read_only=read_only, holder=holder)


async def test_what_one_job_writes_into_a_container_that_it_only_reads_no_other_job_runs(
    container: ContainerClient, mirrors: Mirrors
) -> None:
    await container.upload_blob("train.py", b"print(1)")
    first, second = (volume_of("shared", read_only=True, holder=one) for one in ("first", "second"))
    (await mirrors.hold(first) / "train.py").write_bytes(b"steal()")

    directory = await mirrors.hold(second)

    assert (directory / "train.py").read_bytes() == b"print(1)"
    for one in (first, second):
        await mirrors.release(one, 1)


@pytest.mark.parametrize("read_only", [True, False], ids=["read-only", "written-back"])
async def test_a_job_may_end_at_any_moment_of_anothers_mount(
    container: ContainerClient, mirrors: Mirrors, *, read_only: bool
) -> None:
    await container.upload_blob("train.py", b"print(1)")
    volume = volume_of("shared", read_only=read_only)
    for moment in range(12):
        await mirrors.hold(volume)
        second = asyncio.create_task(mirrors.hold(volume))
        for _ in range(moment):
            await asyncio.sleep(0)
        await mirrors.release(volume, 1)
        directory = await second

        assert (directory / "train.py").read_bytes() == b"print(1)"
        third = asyncio.create_task(mirrors.release(volume, 1))
        for _ in range(moment):
            await asyncio.sleep(0)
        directory = await mirrors.hold(volume)
        await third
        assert (directory / "train.py").read_bytes() == b"print(1)"
        await mirrors.release(volume, 1)


async def test_a_mount_that_fails_or_is_given_up_leaves_nothing_behind(
    container: ContainerClient, mirrors: Mirrors, tmp_path: Path
) -> None:
    with pytest.raises(MountError, match="ContainerNotFound"):
        await mirrors.hold(volume_of("missing", read_only=True))
    given_up = asyncio.create_task(mirrors.hold(volume_of("shared", read_only=True)))
    await asyncio.sleep(0)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up

    assert not list(tmp_path.glob("blobs/*/*.ro"))  # noqa: ASYNC240 a look at what is left
