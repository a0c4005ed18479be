"""What is too much for a drop is refused, whatever lies beside it; it is judged again when that changes."""

from __future__ import annotations

import pytest

from shared.core.job import JobState
from shared.intake.drops.drop import look_at_folder
from tests.unit.intake.drops.test_freeze import dropped, job, unpacked
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
