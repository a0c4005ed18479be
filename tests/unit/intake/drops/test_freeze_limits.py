"""What is too much for a drop is refused, also where drops lie below; judged again when that changes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from shared.core.job import JobState
from shared.core.ports import Content
from shared.intake.drops.drop import look_at_folder
from tests.doubles.memory import MemoryDrops
from tests.unit.intake.drops.test_freeze import MOUNT, dropped, job, unpacked, upload
from tests.unit.world import World

SOURCES = {"d/job.json": job(), "d/train.py": b"1", "d/lib/tools.py": b"2", "d/lib/deep/more.py": b"3"}


def many(folder: str, prefix: str = "") -> dict[str, bytes]:
    """More files than the pages that are listed of all folders below."""
    return {f"{folder}{prefix}{number:05}.csv": b"x" for number in range(600)}


@pytest.mark.parametrize(
    "others",
    [
        {"d/a/job.json": b"{}", **many("d/a/", "z")},
        {"d/a/job.json": b"{}", **many("d/a/")},
        {"d/lib/own/job.json": b"{}", **many("d/lib/own/deep/")},
        many("d/.git/"),
        many("d/lib/__pycache__/"),
    ],
    ids=["drop", "drop-last", "inner-drop", "hidden", "cache"],
)
async def test_what_is_no_part_of_a_drop_never_hides_its_files(
    world: World, others: dict[str, bytes]
) -> None:
    (one,) = await dropped(world, SOURCES | others)

    assert one.state is JobState.QUEUED
    assert unpacked(world, one).keys() == {"train.py", "lib/tools.py", "lib/deep/more.py"}


async def test_a_list_that_was_cut_off_is_refused(world: World) -> None:
    world.drops.most = 1
    (one,) = await dropped(world, SOURCES | {f"d/{n}/job.json": b"{}" for n in range(2_001)})

    (problem,) = [two for two in one.problems if two["code"] == "SW117"]
    assert one.state is JobState.REJECTED
    assert "folders below" in problem["message"]
    assert world.snapshots.data == {}


@pytest.mark.parametrize("folder", ["d/", "d/data/"])
async def test_a_drop_that_was_too_large_begins_once_files_are_deleted(world: World, folder: str) -> None:
    (first,) = await dropped(world, SOURCES | many(folder))
    (again,) = await dropped(world, {})
    for name in many(folder):
        del world.drops.blobs[name]
    (last,) = [one.job for one in (await look_at_folder(world.ports, "d/")).accepted]

    assert (first.state, again.id) == (JobState.REJECTED, first.id)
    assert last.state is JobState.QUEUED
    assert len(unpacked(world, last)) == 3


@dataclass
class Held(MemoryDrops):
    """Notes of how many folders data is read at once."""

    reading: int = 0
    largest: int = 0

    async def read(self, name: str, *, etag: str | None = None, limit: int) -> Content | None:
        is_data = name.endswith(".csv")
        self.reading += is_data
        self.largest = max(self.largest, self.reading)
        await asyncio.sleep(0)
        self.reading -= is_data
        return await super().read(name, etag=etag, limit=limit)


async def test_few_folders_are_held_in_memory_at_once(world: World) -> None:
    world.use(drops=(drops := Held(world.clock)))
    world.drops = drops
    for number in range(8):
        upload(world, {f"{number}/job.json": job(), f"{number}/a.csv": b"1"})
    upload(world, {"d/train.py": b"1"})
    world.pass_time(60)

    looked = await asyncio.gather(*(look_at_folder(world.ports, f"{number}/") for number in range(8)))

    assert [len(one.accepted) for one in looked] == [1] * 8
    assert drops.largest == 2


async def test_a_job_file_that_names_its_document_is_frozen(world: World) -> None:
    files = {"specs/a.json": job(), "d/job.json": b'{"specBlob": "scripts/specs/a.json"}', "d/train.py": b"1"}
    (one,) = await dropped(world, files)

    assert one.state is JobState.QUEUED
    assert unpacked(world, one) == {"train.py": b"1"}
    assert "mountVolumes" not in world.engine.orders[0].document["properties"]


async def test_the_document_that_a_job_file_names_may_mount_what_it_runs(world: World) -> None:
    mounts = job(mountVolumes={"azureBlobFileSystems": [MOUNT]})
    files = {
        "specs/a.json": mounts,
        "d/job.json": b'{"specBlob": "scripts/specs/a.json"}',
        "d/train.py": b"1",
    }
    (one,) = await dropped(world, files)

    assert (one.state, one.code) == (JobState.QUEUED, None)


async def test_a_document_that_is_not_there_is_named_once(world: World) -> None:
    (one,) = await dropped(world, {"d/job.json": b'{"specBlob": "scripts/specs/a.json"}', "d/train.py": b"1"})

    assert [two["code"] for two in one.problems].count("SW106") == 1


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ä" * 128 + ".csv", "a level of 260 bytes"),
        ("lib/" + "x" * 256 + "/a.csv", "a level of 256 bytes"),
        ("/".join(["数" * 70] * 19), "a path of 4,0"),
    ],
    ids=["file", "folder", "path"],
)
async def test_a_file_that_no_node_can_unpack_is_named(world: World, name: str, says: str) -> None:
    (one,) = await dropped(world, SOURCES | {f"d/{name}": b"1"})

    (problem,) = [two for two in one.problems if two["code"] == "SW117"]
    assert one.state is JobState.REJECTED
    assert says in problem["message"]
    assert name[:20] in problem["message"]
    assert "shorter" in problem["remedy"]
    assert world.snapshots.data == {}


async def test_the_longest_names_that_a_node_takes_are_packed(world: World) -> None:
    (one,) = await dropped(world, SOURCES | {f"d/{'x' * 255}": b"1"})

    assert "x" * 255 in unpacked(world, one)
