"""Addresses of a job's files in storage itself, over HTTP."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from shared.core.engine import OutputFile
from shared.core.job import JobState
from shared.operate.files.output import MOST_BYTES
from tests.doubles.memory_addresses import WRITTEN, MemoryAddresses
from tests.unit.functions.calls import call, use
from tests.unit.world import World, job_json

SEGMENT = "s/jobs/n/1"
TOP = f"models/{SEGMENT}/stdouterr"
MOUNT = {"accountName": "acct", "containerName": "models", "relativeMountPath": "out"}
DOCUMENT = job_json(
    stdOutErrPathPrefix="$AZ_BATCHAI_JOB_MOUNT_ROOT/out", mountVolumes={"azureBlobFileSystems": [MOUNT]}
)


@dataclass
class Ended:
    """A job that wrote its output into a container of its own, and the world around it."""

    world: World
    job: str
    addresses: MemoryAddresses

    async def get(self, path: str, **headers: str) -> Any:
        return await call("GET", f"/api/jobs/{self.job}/{path}", headers)

    async def listed(self, query: str = "") -> dict[str, Any]:
        answer = await self.get(f"addresses{query}")
        assert answer.status_code == 200, answer.get_body()
        assert answer.headers["Cache-Control"] == "no-store"
        body: dict[str, Any] = json.loads(answer.get_body())
        return body

    def lists(self, name: str, size: int, modified: Any = None, at: str = ".") -> None:
        self.world.engine.listed[at] = (OutputFile(name, size, modified),)


@pytest.fixture
async def ended(world: World, monkeypatch: pytest.MonkeyPatch) -> Ended:
    addresses = MemoryAddresses()
    world.use(addresses=addresses)
    use(world, monkeypatch)
    job = (await world.message(DOCUMENT)).job
    name = world.engine.started[-1]
    world.engine.set_state(name, JobState.SUCCEEDED)
    world.engine.jobs[name] = world.engine.jobs[name]._replace(segment=SEGMENT)
    await world.make_pass()
    return Ended(world, job.id, addresses)


async def test_the_files_of_a_folder_are_listed_with_their_addresses(ended: Ended) -> None:
    ended.addresses.blobs |= {f"{TOP}/stdout.txt": 3, f"{TOP}/deep/a": 1, "models/other/b": 1}

    body = await ended.listed()

    (one,) = body["addresses"]
    assert (one["name"], one["bytes"], one["modified"]) == ("stdout.txt", 3, "2026-01-01T12:00:00+00:00")
    assert one["url"].startswith(f"https://acct.example/{TOP}/stdout.txt?")
    assert (body["next"], body["expires"]) == (None, "2026-01-01T13:00:00+00:00")
    assert [one["name"] for one in (await ended.listed("?path=deep/"))["addresses"]] == ["a"]


async def test_there_are_none_of_a_job_that_may_still_write(ended: Ended, world: World) -> None:
    job = (await world.message(DOCUMENT, "m2")).job
    name = world.engine.started[-1]
    world.engine.set_state(name, JobState.RUNNING)
    world.engine.jobs[name] = world.engine.jobs[name]._replace(segment=SEGMENT)
    await world.make_pass()
    ended.job = job.id
    ended.addresses.blobs[f"{TOP}/stdout.txt"] = 3

    assert (await ended.listed())["expires"] is None


async def test_there_are_none_where_that_is_not_configured(ended: Ended, world: World) -> None:
    ended.addresses.blobs[f"{TOP}/stdout.txt"] = 3
    none: dict[str, Any] = {"addresses": [], "next": None, "expires": None}

    assert await ended.listed("?directory=NONE") == none
    world.use(addresses=None)
    assert await ended.listed() == none
    world.use(addresses=replace(ended.addresses, account="another"))
    assert await ended.listed() == none


@pytest.mark.parametrize("query", ["?path=..", "?path=/etc", "?path=a/../../b", "?after=%00"])
async def test_no_path_leads_out_of_the_directory(ended: Ended, query: str) -> None:
    answer = await ended.get(f"addresses{query}")
    assert answer.status_code == 400
    assert json.loads(answer.get_body())["remedy"]


async def test_a_file_that_no_answer_can_hold_is_read_from_storage(ended: Ended) -> None:
    large = MOST_BYTES + 1
    ended.addresses.blobs[f"{TOP}/deep/model.bin"] = large
    ended.lists("model.bin", large, WRITTEN + timedelta(seconds=0.9), at="deep")

    answer = await ended.get("files/stdouterr/deep/model.bin")

    assert answer.status_code == 307
    assert answer.headers["Location"].startswith(f"https://acct.example/{TOP}/deep/model.bin?")
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("size", "age"),
    [(MOST_BYTES + 2, 0), (MOST_BYTES + 1, 1)],
    ids=["of another size", "written after the blob"],
)
async def test_a_blob_that_is_not_what_the_job_wrote_last_is_not_answered(
    ended: Ended, size: int, age: int
) -> None:
    ended.addresses.blobs[f"{TOP}/model.bin"] = MOST_BYTES + 1
    ended.lists("model.bin", size, WRITTEN + timedelta(seconds=age))

    assert (await ended.get("files/stdouterr/model.bin")).status_code == 404  # the engine has no such file


async def test_small_files_and_ranges_come_through_the_app(ended: Ended, world: World) -> None:
    world.engine.output |= {"small.txt": b"abc", "large.bin": b"abc"}
    ended.addresses.blobs |= {f"{TOP}/small.txt": 3, f"{TOP}/large.bin": MOST_BYTES + 1}

    assert (await ended.get("files/stdouterr/small.txt")).get_body() == b"abc"
    part = await ended.get("files/stdouterr/large.bin", Range="bytes=0-1")
    assert (part.status_code, part.get_body()) == (206, b"ab")
