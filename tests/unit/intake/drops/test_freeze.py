"""A drop becomes one archive of the versions that were listed, and its job runs that."""

from __future__ import annotations

import io
import json
import tarfile
from dataclasses import dataclass, field
from typing import Any

import pytest

from shared.core.job import Job, JobState
from shared.core.ports import Content
from shared.intake.drops.drop import look_at_folder
from shared.intake.drops.explained import explain_folder
from tests.doubles.memory import MemoryDrops
from tests.unit.world import World, job_json

ROOT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts"
MOUNT = {"accountName": "acct", "containerName": "scripts", "relativeMountPath": "scripts"}


def job(command: str = f"python {ROOT}/d/train.py", **properties: Any) -> bytes:
    return json.dumps(job_json(customToolkitSettings={"commandLine": command}, **properties)).encode()


def upload(world: World, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        world.drops.upload(name, data)


async def dropped(world: World, files: dict[str, bytes], folder: str = "d/") -> list[Job]:
    upload(world, files)
    world.pass_time(60)
    return [one.job for one in (await look_at_folder(world.ports, folder)).accepted]


def unpacked(world: World, one: Job) -> dict[str, bytes]:
    """The files of the archive of a job, by name."""
    assert one.code is not None
    with tarfile.open(fileobj=io.BytesIO(world.snapshots.data[one.code.blob])) as archive:
        files = {member.name: archive.extractfile(member) for member in archive.getmembers()}
        return {name: file.read() for name, file in files.items() if file is not None}


async def test_a_folder_is_frozen_as_it_was_listed_and_no_edit_changes_its_job(world: World) -> None:
    (one,) = await dropped(
        world, {"d/job.json": job(), "d/train.py": b"1", "d/lib/tools.py": b"2", "d/data.csv": b"3"}
    )
    upload(world, {"d/train.py": b"edited", "d/lib/late.py": b"late"})

    assert unpacked(world, one) == {"train.py": b"1", "lib/tools.py": b"2", "data.csv": b"3"}
    assert one.code is not None
    assert (one.code.at, one.code.origin, one.code.files) == ("scripts/d", "drop", 3)
    (order,) = world.engine.orders
    assert "mountVolumes" not in order.document["properties"]
    assert order.code is not None
    assert order.code.sha256 == one.code.sha256


async def test_the_request_hidden_files_and_other_drops_stay_out_of_it(world: World) -> None:
    (one,) = await dropped(
        world,
        {
            "d/job.json": job(),
            "d/slipway.json": b'{"name": "n"}',
            "d/train.py": b"1",
            "d/.env": b"secret",
            "d/__pycache__/a.pyc": b"x",
            "d/other/job.json": b"{}",
            "d/other/own.py": b"x",
            "d/lib/tools.py": b"2",
        },
    )

    assert unpacked(world, one).keys() == {"train.py", "lib/tools.py"}


async def test_a_script_that_lies_elsewhere_comes_along_at_its_path(world: World) -> None:
    (one,) = await dropped(
        world, {"d/job.json": job(f"python {ROOT}/shared/go.py"), "d/a.txt": b"1", "shared/go.py": b"2"}
    )

    assert one.code is not None
    assert one.code.at == "scripts"
    assert unpacked(world, one) == {"d/a.txt": b"1", "shared/go.py": b"2"}


async def test_scripts_of_a_template_share_one_archive_which_is_read_once(world: World) -> None:
    world.use(drops=(drops := Reads(world.clock)))
    world.drops = drops
    template = job("python <SLIPWAY_SCRIPT:run*.py>")

    jobs = await dropped(
        world, {"t/job.json": template, **{f"t/d/run{n}.py": b"%d" % n for n in range(3)}}, "t/d/"
    )

    assert len(jobs) == 3
    assert len({one.code.blob for one in jobs if one.code}) == 1
    assert len(unpacked(world, jobs[0])) == 3
    assert len(world.snapshots.data) == 1
    assert all(drops.names.count(f"t/d/run{n}.py") <= 2 for n in range(3))


async def test_a_job_that_mounts_the_container_itself_keeps_it(world: World) -> None:
    (one,) = await dropped(
        world,
        {"d/job.json": job(mountVolumes={"azureBlobFileSystems": [MOUNT]}), "d/train.py": b"1"},
    )

    assert (one.state, one.code, world.snapshots.data) == (JobState.QUEUED, None, {})
    (order,) = world.engine.orders
    assert order.document["properties"]["mountVolumes"]["azureBlobFileSystems"][0]["containerName"]


@dataclass
class Reads(MemoryDrops):
    """Notes what is read, and edits a file just before that."""

    names: list[str] = field(default_factory=list)
    edits: dict[str, bytes] = field(default_factory=dict)

    async def read(self, name: str, *, etag: str | None = None, limit: int) -> Content | None:
        self.names.append(name)
        if name in self.edits:
            self.upload(name, self.edits.pop(name))
        return await super().read(name, etag=etag, limit=limit)


async def test_a_file_that_changes_while_it_is_read_begins_no_job_until_it_is_quiet(world: World) -> None:
    world.use(drops=(drops := Reads(world.clock, edits={"d/data.csv": b"new"})))
    world.drops = drops
    files = {"d/job.json": job(), "d/train.py": b"1", "d/data.csv": b"old"}

    assert await dropped(world, files) == []
    world.pass_time(60)
    (accepted,) = (await look_at_folder(world.ports, "d/")).accepted

    assert unpacked(world, accepted.job)["data.csv"] == b"new"


async def test_a_folder_waits_for_a_young_file_below_it(world: World) -> None:
    upload(world, {"d/job.json": job(), "d/train.py": b"1"})
    world.pass_time(60)
    upload(world, {"d/lib/tools.py": b"2"})

    looked = await look_at_folder(world.ports, "d/")

    assert (looked.accepted, looked.waits[:7]) == ((), "settles")


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({f"d/{n:03}.csv": b"x" for n in range(500)}, "501 files"),
        ({"d/weights.bin": b"x" * (64 << 20)}, '"weights.bin" (64.0 MiB)'),
    ],
    ids=["many", "large"],
)
async def test_what_is_too_large_is_rejected_with_its_largest_files_and_the_ways_out(
    world: World, files: dict[str, bytes], says: str
) -> None:
    (one,) = await dropped(world, {"d/job.json": job(), "d/train.py": b"1", **files})

    (problem,) = [two for two in one.problems if two["code"] == "SW117"]
    assert one.state is JobState.REJECTED
    assert says in problem["message"]
    assert all(way in problem["remedy"] for way in ("slipway run", "slipway data put", "mount"))
    assert world.snapshots.data == {}


async def test_five_hundred_files_cost_a_request_each_and_one_to_store_them(world: World) -> None:
    world.use(drops=(drops := Reads(world.clock)))
    world.drops = drops
    files = {f"d/{n:03}.csv": b"x" for n in range(499)}

    (one,) = await dropped(world, {"d/job.json": job(), "d/train.py": b"1", **files})

    assert one.state is JobState.QUEUED
    assert len(drops.names) == 501
    assert [verb for verb, _ in world.snapshots.requests] == ["put", "touch"]


async def test_a_file_beside_a_folder_of_its_name_is_left_out(world: World) -> None:
    (one,) = await dropped(
        world, {"d/job.json": job(), "d/train.py": b"1", "d/lib": b"file", "d/lib/tools.py": b"2"}
    )

    assert unpacked(world, one).keys() == {"train.py", "lib/tools.py"}


async def test_a_late_event_joins_its_job(world: World) -> None:
    files = {"d/job.json": job(), "d/train.py": b"1", "d/helper.py": b"2"}
    (first,) = await dropped(world, files)
    (second,) = await dropped(world, {"d/helper.py": b"edited"})

    assert second.id == first.id
    assert second.code == first.code


async def test_an_explanation_shows_the_place_and_stores_nothing(world: World) -> None:
    upload(world, {"d/job.json": job(), "d/train.py": b"1"})
    world.pass_time(60)

    (body,) = (await explain_folder(world.ports, "d/", live=True)).bodies

    assert body["verdict"] != "rejected"
    assert "code: the files of the drop are at scripts/d, as they were accepted" in json.dumps(body)
    assert "mountVolumes" not in json.dumps(body)
    assert (world.snapshots.data, world.snapshots.requests) == ({}, [])
