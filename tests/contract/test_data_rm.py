"""`slipway data rm` against a real storage emulator: what fits goes, after a look, and nothing else."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from azure.storage.blob.aio import BlobServiceClient, ContainerClient
from typer.testing import CliRunner, Result

from local.azurite import Azurite
from slipway.client.files.datalake import DataLake
from slipway.main import app
from tests.names import REFUSED, each

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class Data:
    """A container with files, and the settings that name its storage."""

    container: ContainerClient
    settings: Path

    async def names(self) -> list[str]:
        return [one.name async for one in self.container.list_blobs()]

    async def fill(self, files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            await self.container.upload_blob(name, content, overwrite=True)

    async def rm(self, *words: str) -> Result:
        own = ["--container", self.container.container_name, "--settings", str(self.settings)]
        return await asyncio.to_thread(CliRunner().invoke, app, ["data", "rm", *words, *own])


@pytest_asyncio.fixture(loop_scope="session")
async def data(storage: Azurite, tmp_path: Path) -> AsyncIterator[Data]:
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"Values": {"SLIPWAY_STORAGE": storage.connection_string}}))
    async with BlobServiceClient.from_connection_string(storage.connection_string) as service:
        container = await service.create_container(f"c{uuid.uuid4().hex[:20]}")
        yield Data(container, settings)
        await service.delete_container(container.container_name)


FILES = {"sets/a.csv": b"1", "sets/deep/b.csv": b"22", "sets2/c.csv": b"333", "d.csv": b"4444"}


async def test_a_dry_run_lists_what_would_go_and_removes_nothing(data: Data) -> None:
    await data.fill(FILES)

    shown = await data.rm("sets", "--dry-run")

    assert shown.output.splitlines() == [
        "sets/a.csv",
        "sets/deep/b.csv",
        "2 files, 3 bytes: would be removed",
    ]
    assert await data.names() == sorted(FILES)


@pytest.mark.parametrize(
    ("words", "remaining"),
    [
        (["sets"], ["d.csv", "sets2/c.csv"]),
        (["sets*"], ["d.csv"]),
        (["d.csv", "sets/deep"], ["sets/a.csv", "sets2/c.csv"]),
        (["*", "--older", "0h"], []),
        (["*", "--older", "1h"], sorted(FILES)),
    ],
)
async def test_what_fits_goes_and_nothing_else(data: Data, words: list[str], remaining: list[str]) -> None:
    await data.fill(FILES)

    removed = await data.rm(*words, "--yes", "--json")

    assert removed.exit_code == 0
    answer = json.loads(removed.output)
    assert await data.names() == remaining
    assert answer["removed"] == len(FILES) - len(remaining) == len(answer["files"])


async def test_without_a_person_to_ask_nothing_goes(data: Data) -> None:
    await data.fill(FILES)

    refused = await data.rm("sets")

    assert "2 files would go, and none did; add --yes" in str(refused.exception)
    assert await data.names() == sorted(FILES)


@pytest.mark.parametrize("age", ["soon", "-1d", "1.5d", "d", "1w", "999999d", "\u0661d"])
async def test_an_age_is_hours_or_days(data: Data, age: str) -> None:
    refused = await data.rm("x", f"--older={age}")

    assert "is not an age; write 12h or 180d" in str(refused.exception)


async def test_a_file_that_has_changed_since_it_was_listed_stays(data: Data) -> None:
    await data.fill({"a": b"1"})
    lake = DataLake(data.container)
    (listed,) = await lake.files()
    await data.fill({"a": b"2"})
    (changed,) = await lake.files()
    while changed.modified == listed.modified:  # storage's times have whole seconds
        await data.fill({"a": b"2"})
        (changed,) = await lake.files()

    assert "it has changed, or is gone" in await lake.remove(listed)
    assert await lake.remove(changed) == ""
    assert "it has changed, or is gone" in await lake.remove(changed)


async def test_one_that_cannot_be_removed_keeps_no_other_and_snapshots_go_too(data: Data) -> None:
    await data.fill({f"s/{name}": b"1" for name in ("aa", "bb", "cc")})
    await data.container.get_blob_client("s/aa").create_snapshot()
    leased = await data.container.get_blob_client("s/bb").acquire_lease()

    removed = await data.rm("s/*", "--yes")

    await leased.release()
    assert "2 files removed" in removed.output
    assert "s/bb was not removed: the storage account answered 412 LeaseIdMissing" in removed.output
    assert await data.names() == ["s/bb"]


async def test_a_name_of_any_kind_is_removed_and_shown_on_one_line(data: Data) -> None:
    names = [name for name in each() if name not in REFUSED]
    await data.fill({f"names/{name}": b"1" for name in names})

    shown = await data.rm("names", "--dry-run")
    removed = await data.rm("names", "--yes")

    assert len(shown.output.splitlines()) == len(names) + 1
    assert all(line.isprintable() for line in shown.output.splitlines())
    assert removed.output.strip() == f"{len(names)} files removed"
    assert await data.names() == []


@pytest.mark.parametrize("container", ["scripts", "runs", "archive", "snapshots", "azure-webjobs-hosts"])
async def test_of_the_apps_own_containers_nothing_is_removed(data: Data, container: str) -> None:
    refused = await asyncio.to_thread(
        CliRunner().invoke,
        app,
        ["data", "rm", "*", "--yes", "--container", container, "--settings", str(data.settings)],
    )

    assert "the app's own" in str(refused.exception) or "is not for data" in str(refused.exception)
