"""A container as a directory, against a real Azurite."""

import errno
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from azure.storage.blob import StandardBlobTier
from azure.storage.blob.aio import BlobServiceClient, ContainerClient

from confined.removal import remove
from local.azurite import KEY
from local.mirror import Mirror, MirrorError
from tests.deep import make_deep


@pytest_asyncio.fixture(loop_scope="session")
async def container(blobs: BlobServiceClient, tmp_path: Path) -> AsyncIterator[ContainerClient]:
    container = await blobs.create_container("mirrored")
    yield container
    await container.delete_container()


def mirror_of(container: ContainerClient, root: Path) -> Mirror:
    root.mkdir(exist_ok=True)
    return Mirror(root, ContainerClient(container.url.rsplit("/", 1)[0], container.container_name, KEY))


@pytest_asyncio.fixture(loop_scope="session")
async def mirror(container: ContainerClient, tmp_path: Path) -> AsyncIterator[Mirror]:
    mirror = mirror_of(container, tmp_path / "mirror")
    yield mirror
    await mirror.close()


async def test_what_is_the_same_on_both_sides_is_neither_fetched_nor_sent_again(
    container: ContainerClient, mirror: Mirror
) -> None:
    await container.upload_blob("fetched", b"1")
    await mirror.pull()
    (mirror.files / "written").write_text("2")
    await mirror.push()
    before = {file.name: os.stat(file) for file in mirror.files.iterdir()}  # noqa: PTH116 all of it is compared

    await mirror.pull()
    messages = await mirror.push()

    assert messages == 0
    assert before.keys() == {"fetched", "written"}
    for file in mirror.files.iterdir():
        assert (before[file.name].st_ino, before[file.name].st_mtime_ns) == (
            file.stat().st_ino,
            file.stat().st_mtime_ns,
        )


async def test_each_side_follows_the_other(container: ContainerClient, mirror: Mirror) -> None:
    await container.upload_blob("a/b", b"old")
    await container.upload_blob("gone", b"x")
    await mirror.pull()

    await container.upload_blob("a/b", b"new", overwrite=True)
    await container.delete_blob("gone")
    await mirror.pull()
    assert (mirror.files / "a" / "b").read_bytes() == b"new"
    assert not (mirror.files / "gone").exists()

    (mirror.files / "a" / "b").unlink()
    (mirror.files / "a" / "c").write_bytes(b"here")
    await mirror.push()
    assert [blob.name async for blob in container.list_blobs()] == ["a/c"]


async def test_a_file_that_changed_on_both_sides_keeps_what_was_written_here(
    container: ContainerClient, mirror: Mirror
) -> None:
    await container.upload_blob("file", b"old")
    await mirror.pull()

    await container.upload_blob("file", b"theirs", overwrite=True)
    (mirror.files / "file").write_bytes(b"ours")
    await mirror.pull()
    await mirror.push()

    assert (mirror.files / "file").read_bytes() == b"ours"
    assert await (await container.download_blob("file")).readall() == b"ours"


async def test_a_mirror_whose_files_were_thrown_away_deletes_nothing_in_the_container(
    container: ContainerClient, mirror: Mirror
) -> None:
    await container.upload_blob("file", b"precious")
    await mirror.pull()
    (mirror.files / "file").unlink()

    later = mirror_of(container, mirror.files.parent)
    await later.pull()
    await later.push()
    await later.close()

    assert (mirror.files / "file").read_bytes() == b"precious"
    assert [blob.name async for blob in container.list_blobs()] == ["file"]


async def test_a_fetch_that_was_cut_off_is_not_taken_for_a_change(
    container: ContainerClient, mirror: Mirror
) -> None:
    await container.upload_blob("file", b"same")
    await mirror.pull()
    etag = (await container.get_blob_client("file").get_blob_properties()).etag
    (mirror.files.parent / "manifest.json").unlink()

    later = mirror_of(container, mirror.files.parent)
    await later.pull()
    await later.push()
    await later.close()

    assert (await container.get_blob_client("file").get_blob_properties()).etag == etag


async def test_names_that_are_no_paths_are_left_out_and_links_are_not_followed(
    container: ContainerClient, mirror: Mirror, tmp_path: Path
) -> None:
    await container.upload_blob("a//b", b"x")
    await container.upload_blob("folder", b"x")
    await container.upload_blob("folder/file", b"y")

    assert await mirror.pull() == ["a//b"]
    assert (mirror.files / "folder" / "file").read_bytes() == b"y"

    (tmp_path / "outside").write_text("not for the container")
    (mirror.files / "link").symlink_to(tmp_path / "outside")
    (mirror.files / "folders").symlink_to(tmp_path)
    assert await mirror.push() == 0


async def test_a_container_that_is_not_there_is_an_error_without_an_address(
    container: ContainerClient, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    absent = Mirror(
        tmp_path / "other", ContainerClient(container.url.rsplit("/", 1)[0], "absent", KEY, retry_total=0)
    )

    with pytest.raises(MirrorError) as raised:
        await absent.pull()
    await absent.close()

    assert "absent" in str(raised.value)
    assert "http" not in str(raised.value)


async def test_no_link_of_a_job_leads_what_is_fetched_or_sent_out_of_the_directory(
    container: ContainerClient, mirror: Mirror, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "kept").write_text("secret")
    await container.upload_blob("first/kept", b"secret")
    await mirror.pull()

    # The same size and time as what is remembered: only the directory is another one.
    stat = (mirror.files / "first/kept").stat()
    os.utime(outside / "kept", ns=(stat.st_mtime_ns, stat.st_mtime_ns))
    (mirror.files / "first/kept").rename(mirror.files / "moved")
    (mirror.files / "first").rmdir()
    (mirror.files / "first").symlink_to(outside)
    await container.delete_blob("first/kept")
    await container.upload_blob("first/evil", b"x")
    await container.upload_blob("first/deep/evil", b"x")
    await container.upload_blob("first/folder", b"", metadata={"hdi_isfolder": "true"})
    await container.upload_blob("second", b"fine")
    (mirror.files / "sent").symlink_to(outside / "kept")
    await mirror.pull()
    await mirror.push()

    assert {path.name for path in outside.iterdir()} == {"deep", "kept"}
    assert list((outside / "deep").iterdir()) == []
    assert (mirror.files / "second").read_bytes() == b"fine"
    assert "sent" not in [blob.name async for blob in container.list_blobs()]
    assert [path.name for path in tmp_path.joinpath("mirror").iterdir() if path.name.startswith("tmp")] == []


async def test_a_file_whose_directory_became_a_link_since_it_was_seen_is_not_sent(
    container: ContainerClient, mirror: Mirror, tmp_path: Path
) -> None:
    (tmp_path / "f").write_text("secret")
    await mirror.pull()
    (mirror.files / "a").symlink_to(tmp_path)
    (mirror.files / "b").symlink_to(tmp_path / "f")
    os.mkfifo(mirror.files / "c")

    for name in ("a/f", "b", "c"):
        await mirror._send(name, (6, 0))

    assert [blob.name async for blob in container.list_blobs()] == []


@pytest.mark.parametrize("way", ["pull", "push"])
async def test_what_this_machine_refuses_to_write_is_reported_as_what_the_container_refuses(
    container: ContainerClient, mirror: Mirror, way: str
) -> None:
    """Who repeats either does so for one error; another would end it."""
    await container.upload_blob("there", b"1")
    await mirror.pull()
    (mirror.files / "new").write_text("2")
    blocked = mirror.files.parent / "manifest.new"
    blocked.mkdir()

    with pytest.raises(MirrorError, match=r"mirrored of devstoreaccount1 cannot be used: Is a directory"):
        await getattr(mirror, way)()

    blocked.rmdir()
    assert await getattr(mirror, way)() in ([], 0)


async def test_what_is_too_deep_for_a_blob_stays_here_and_the_rest_is_sent(
    container: ContainerClient, mirror: Mirror
) -> None:
    await mirror.pull()
    name = "d" * 200
    make_deep(mirror.files, name, 30, file="f")
    (mirror.files / "kept").touch()

    await mirror.push()
    await mirror.pull()
    remove(mirror.files)

    assert [len(blob.name) async for blob in container.list_blobs()] == [1006, 805, 604, 403, 202, 4]


async def test_what_cannot_be_read_any_more_is_not_deleted_from_the_container(
    container: ContainerClient, mirror: Mirror
) -> None:
    for name in ("closed/a", "closed/b/c", "gone/d", "open"):
        await container.upload_blob(name, b"1")
    await mirror.pull()
    closed, removed = mirror.files / "closed", mirror.files / "gone"
    scandir = os.scandir

    def refused(path: Path) -> Any:
        if path == closed:
            raise PermissionError(errno.EACCES, "Permission denied")
        if path == removed:
            (removed / "d").unlink()
            removed.rmdir()
        return scandir(path)

    (mirror.files / "new").write_bytes(b"2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "scandir", refused)
        with pytest.raises(MirrorError, match="Permission denied"):  # after the rest
            await mirror.push()
        await mirror.pull()

    assert [blob.name async for blob in container.list_blobs()] == ["closed/a", "closed/b/c", "new", "open"]


async def test_a_directory_that_is_gone_as_a_whole_deletes_nothing(
    container: ContainerClient, mirror: Mirror
) -> None:
    await container.upload_blob("a", b"1")
    await mirror.pull()
    remove(mirror.files)

    with pytest.raises(MirrorError):
        await mirror.push()

    assert [blob.name async for blob in container.list_blobs()] == ["a"]


async def test_a_path_that_is_too_long_is_an_error_after_the_rest_was_sent(
    container: ContainerClient, mirror: Mirror
) -> None:
    await mirror.pull()
    make_deep(mirror.files, "\U0001f600" * 63, 16)
    (mirror.files / "kept").touch()

    with pytest.raises(MirrorError, match="File name too long"):
        await mirror.push()
    assert await mirror.pull() == []

    remove(mirror.files)
    assert [blob.name async for blob in container.list_blobs()] == ["kept"]


async def test_a_directory_that_is_moved_away_during_a_look_deletes_nothing(
    container: ContainerClient, mirror: Mirror
) -> None:
    for name in ("a/x", "top"):
        await container.upload_blob(name, b"1")
    await mirror.pull()
    scandir = os.scandir

    def moved(path: Path) -> Any:
        if path == mirror.files / "a":
            mirror.files.rename(mirror.files.parent / "moved")
            mirror.files.mkdir()
        return scandir(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "scandir", moved)
        with pytest.raises(MirrorError):
            await mirror.push()

    assert [blob.name async for blob in container.list_blobs()] == ["a/x", "top"]


async def test_a_blob_in_the_archive_tier_is_left_out_and_stops_no_other(
    container: ContainerClient, mirror: Mirror
) -> None:
    for name in ("cold", "warm", "cooled"):
        await container.upload_blob(name, b"x")
    cold = container.get_blob_client("cold")
    await cold.set_standard_blob_tier(StandardBlobTier.ARCHIVE)

    assert await mirror.pull() == ["cold"]
    assert sorted(file.name for file in mirror.files.iterdir()) == ["cooled", "warm"]

    # Later, a blob that lies here goes there, and a job writes over another one's name.
    await container.get_blob_client("cooled").set_standard_blob_tier(StandardBlobTier.ARCHIVE)
    (mirror.files / "cold").write_bytes(b"ours")
    (mirror.files / "new").write_bytes(b"new")
    await mirror.push()
    assert await mirror.pull() == ["cold", "cooled"]

    assert (mirror.files / "cold").read_bytes() == b"ours"
    assert await (await container.download_blob("new")).readall() == b"new"
    assert (await cold.get_blob_properties()).blob_tier == "Archive"
    assert not (mirror.files / "cooled").exists()
