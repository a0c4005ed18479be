"""`slipway data` against a real storage emulator: what was put comes back, once, whole, and nowhere else."""

from __future__ import annotations

import asyncio
import gc
import json
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import ContentSettings
from azure.storage.blob.aio import BlobServiceClient, ContainerClient
from typer.testing import CliRunner

from local.azurite import Azurite, azurite
from slipway.client.files.datalake import DataLake, fingerprint
from slipway.commands.data.get import find, get
from slipway.commands.data.put import LocalFile, put, to_put
from slipway.failure import Failure
from slipway.main import app
from tests.breadth import one_each
from tests.names import DEEP, REFUSED, each, kind_of, tree

BLOCK = 8 << 20
pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class World:
    """A container, and the requests that its storage has seen."""

    string: str
    container: ContainerClient
    requests: list[str] = field(default_factory=list)

    @property
    def lake(self) -> DataLake:
        return DataLake(self.container)

    def number_of(self, path: str) -> int:
        return sum(path in line for line in self.requests)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def logged() -> AsyncIterator[tuple[Azurite, list[str]]]:
    """An account, and the requests that it has seen."""
    requests: list[str] = []
    async with azurite(on_request=requests.append) as account:
        yield account, requests


@pytest_asyncio.fixture(loop_scope="session")
async def world(logged: tuple[Azurite, list[str]]) -> AsyncIterator[World]:
    account, requests = logged
    async with BlobServiceClient.from_connection_string(account.connection_string) as service:
        container = await service.create_container("datalake")
        requests.clear()
        yield World(account.connection_string, container, requests)
        await service.delete_container("datalake")


def count(_: int) -> None:
    """Progress that no one looks at."""


async def test_what_is_put_comes_back_and_is_sent_once(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "digits"
    (folder / "deep").mkdir(parents=True)
    contents = {"train.csv": b"1,2\n", "deep/empty": b"", "deep/ünïcode name": os.urandom(1000)}
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    (folder / "train.csv").chmod(0o755)

    first = await put(world.lake, to_put([folder], "team"), count)
    again = await put(world.lake, to_put([folder], "team"), count)
    (folder / "train.csv").write_bytes(b"3,4\n")
    changed = await put(world.lake, to_put([folder], "team"), count)
    files = await find(world.lake, ["team/digits"])
    home = await get(world.lake, files, tmp_path / "home", count)
    twice = await get(world.lake, files, tmp_path / "home", count)
    (tmp_path / "home/team/digits/train.csv").touch()
    touched = await get(world.lake, files, tmp_path / "home", count)

    assert (first.saved, again.saved, again.present, changed.saved) == (3, 0, 3, 1)
    assert (home.saved, twice.saved, twice.present, touched.present) == (3, 0, 3, 3)
    for name, data in (contents | {"train.csv": b"3,4\n"}).items():
        file = tmp_path / "home/team/digits" / name
        assert file.read_bytes() == data
        assert os.access(file, os.X_OK) is (name == "train.csv")
    assert not [name for name in os.listdir(tmp_path / "home") if name.startswith(".")]  # noqa: PTH208


async def test_a_file_of_any_name_is_put_listed_and_got_with_its_own_bytes(
    world: World, tmp_path: Path
) -> None:
    corpus = tree(one_each(each(), kind_of), DEEP)
    for path, content in corpus.items():
        (tmp_path / "names" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "names" / path).write_bytes(content)

    upload = await put(world.lake, to_put([tmp_path / "names"], "team"), count)
    listed = await world.lake.files("team/")
    home = await get(world.lake, await find(world.lake, ["team"]), tmp_path / "home", count)
    by_name = [await find(world.lake, [f"team/names/{path}"]) for path in corpus]

    assert (upload.saved, upload.failed, home.failed) == (len(corpus), [], [])
    assert {file.name: file.size for file in listed} == {
        f"team/names/{path}": len(content) for path, content in corpus.items()
    }
    paths = (path for path in (tmp_path / "home/team/names").rglob("*") if path.is_file())
    assert {
        path.relative_to(tmp_path / "home/team/names").as_posix(): path.read_bytes() for path in paths
    } == corpus
    for path, files in zip(corpus, by_name, strict=True):
        assert f"team/names/{path}" in {file.name for file in files}
    (tmp_path / "refused").mkdir()
    for name in each(REFUSED):
        file = tmp_path / "refused" / name
        file.touch()
        with pytest.raises(Failure, match=r"has (a backslash|the (control )?character U\+)"):
            to_put([file], "")


# The SDK leaves the connection of a cancelled request to the garbage collector.
@pytest.mark.filterwarnings("ignore:Unclosed connection:ResourceWarning")
async def test_an_interrupted_upload_and_download_go_on_where_they_stopped(
    world: World, tmp_path: Path
) -> None:
    big = tmp_path / "big.bin"
    big.write_bytes(os.urandom(3 * BLOCK + 17))
    files = [LocalFile(big, "big.bin")]

    await _until_progress(lambda step: put(world.lake, files, step))
    _, staged = await world.container.get_blob_client("big.bin").get_block_list("uncommitted")
    begun = world.number_of("comp=block&")
    outcome = await put(world.lake, files, count)

    assert 1 <= len(staged) <= 4
    assert world.number_of("comp=block&") - begun == 4 - len(staged)
    assert (outcome.saved, outcome.failed) == (1, [])
    assert (await put(world.lake, files, count)).present == 1

    listed, home = await world.lake.files(), tmp_path / "home"
    await _until_progress(lambda step: get(world.lake, listed, home, step), BLOCK)
    (begun_file,) = home.iterdir()
    assert begun_file.stat().st_size >= BLOCK
    steps: list[int] = []
    outcome = await get(world.lake, listed, home, steps.append)

    assert (outcome.saved, outcome.failed) == (1, [])
    assert steps[0] >= BLOCK - 1, "what the first one has saved"
    assert (home / "big.bin").read_bytes() == big.read_bytes()
    assert [one.name for one in home.iterdir()] == ["big.bin"]


async def _until_progress(work, size: int = 1) -> None:  # type: ignore[no-untyped-def]
    """Run it until so many bytes have moved, then interrupt it."""
    moved, total = asyncio.Event(), [0]

    def step(number: int) -> None:
        total[0] += number
        if total[0] >= size:
            moved.set()

    task = asyncio.create_task(work(step))
    await moved.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    gc.collect()


@pytest.mark.parametrize("name", ["../outside", "a/../../outside", "a//b", "a\\..\\b", "\x1b[2Jx"])
async def test_no_name_leads_out_of_the_directory(world: World, tmp_path: Path, name: str) -> None:
    await world.container.upload_blob("fine", b"1")
    # The SDK's address would normalise the name, so a list stands for what other programs may store.
    (fine,) = await world.lake.files()
    hostile = type(fine)("", name, 1, fine.modified)

    outcome = await get(world.lake, [fine, hostile], tmp_path / "in", count)

    assert outcome.saved == 1
    assert [one for one, _ in outcome.failed] == [name]
    assert os.listdir(tmp_path) == ["in"]  # noqa: PTH208
    assert [path.name for path in (tmp_path / "in").rglob("*") if path.is_file()] == ["fine"]


@pytest.mark.parametrize("name", ["esc\x1b[2J", "folder\x7f/file", "line\nfeed"])
async def test_storage_takes_no_name_that_would_hide_all_others(world: World, name: str) -> None:
    await world.container.upload_blob("fine", b"1")

    with pytest.raises(HttpResponseError) as refused:
        await world.container.upload_blob(name, b"1")

    assert (refused.value.status_code, refused.value.error_code) == (400, "InvalidUri")  # type: ignore[attr-defined]
    assert [file.name for file in await world.lake.files()] == ["fine"]


async def test_a_link_on_the_way_is_not_followed(world: World, tmp_path: Path) -> None:
    await world.container.upload_blob("folder/file", b"1")
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in/folder").symlink_to(tmp_path / "out")

    outcome = await get(world.lake, await world.lake.files(), tmp_path / "in", count)

    assert [name for name, _ in outcome.failed] == ["folder/file"]
    assert list((tmp_path / "out").iterdir()) == []


async def test_bytes_that_are_not_those_that_were_stored_are_not_kept(world: World, tmp_path: Path) -> None:
    wrong = ContentSettings(content_md5=bytearray(16))
    bad = await world.container.upload_blob("bad", b"data")
    await bad.set_http_headers(wrong)
    await world.container.upload_blob("good", b"data")

    outcome = await get(world.lake, await world.lake.files(), tmp_path / "in", count)

    assert outcome.saved == 1
    ((name, reason),) = outcome.failed
    assert (name, "differ from the stored ones" in reason) == ("bad", True)
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["good"]


async def test_a_file_that_changes_while_it_is_read_is_not_put(world: World, tmp_path: Path) -> None:
    file = tmp_path / "growing.bin"
    file.write_bytes(b"a" * (2 * BLOCK))
    content = fingerprint(file)
    file.write_bytes(b"b" * (2 * BLOCK))

    with pytest.raises(Exception, match="changes while it is read"):
        await world.lake.write(file, "growing.bin", content, count)
    assert await world.lake.files() == []


async def test_the_commands_print_tables_or_json(world: World, tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"Values": {"SLIPWAY_STORAGE": world.string}}))
    (tmp_path / "train.csv").write_text("1,2\n")
    more = ["--settings", str(settings)]

    def call(*words: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, ["data", *words, *more])
        return result.exit_code, result.stdout, str(result.exception or "")

    async def run(*words: str) -> tuple[int, str, str]:
        return await asyncio.to_thread(call, *words)

    csv = str(tmp_path / "train.csv")
    assert (await run("put", csv, "--to", "/a/b/"))[1] == (
        "1 file, 4 bytes, for jobs in $AZ_BATCHAI_MOUNT_ROOT/datalake/a/b/\n"
    )
    assert json.loads((await run("put", csv, "--to", "a/b", "--json"))[1])["present"] == 1
    assert "a/" in (await run("ls"))[1]
    assert "a/b/train.csv" in (await run("ls", "--tree", "--utc"))[1]
    (entry,) = json.loads((await run("ls", "a/b", "--json"))[1])
    assert (entry["name"], entry["bytes"]) == ("train.csv", 4)
    code, out, _ = await run("get", "a/*.csv", "--to", str(tmp_path / "home"), "--json")
    assert (code, json.loads(out)["saved"], json.loads(out)["failed"]) == (0, 1, [])
    (tmp_path / "taken/a/b/train.csv").mkdir(parents=True)
    code, out, _ = await run("get", "a/*.csv", "--to", str(tmp_path / "taken"), "--json")
    ((name, reason),) = [(one["name"], one["reason"]) for one in json.loads(out)["failed"]]
    assert (code, name, bool(reason)) == (1, "a/b/train.csv", True)
    assert (tmp_path / "home/a/b/train.csv").read_text() == "1,2\n"
    for words, reason in (
        (("get", "none"), "there is no none"),
        (("ls", "none"), "there is no folder none/"),
        (("put", str(tmp_path / "none")), "there is no such file"),
        (("put", csv, "--to", "../x"), "name a folder such as team/digits"),
        (("put", csv, "--container", "scripts"), "is not for data"),
        (("put", csv, "--container", "lacking"), "there is no container lacking"),
        (("put", csv, csv), "would get the same name"),
    ):
        assert reason in (await run(*words))[2], words
