"""Which files are part of a run: the event of any other file changes nothing, and looks at nothing."""

from __future__ import annotations

import json

import pytest

from shared.core.ports import Content
from shared.intake.arrive import blob_arrived
from shared.intake.drops.drop import look_at_folder
from shared.intake.drops.part import run_of
from tests.crash.chaos import Chaos, Seam
from tests.doubles.memory import MemoryDrops
from tests.unit.world import World, job_json


def job(command: str) -> bytes:
    return json.dumps(job_json(customToolkitSettings={"commandLine": command})).encode()


NAMES = job("python <SLIPWAY_FOLDER>/train.py $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/lib/tools.py")
TEMPLATE = job("python <SLIPWAY_SCRIPT:train*.py>")

#: what lies there, the file that is written, and the run that it is part of
PARTS = [
    ({}, "d/job.json", "d/|"),
    ({}, "job.json", "|"),
    ({}, "d/train.py", None),
    ({}, "d/slipway.json", None),
    ({"d/job.json": NAMES}, "d/train.py", "d/|"),
    ({"d/job.json": NAMES}, "d/slipway.json", "d/|"),
    ({"d/job.json": NAMES}, "d/job.json", "d/|"),
    ({"d/job.json": NAMES}, "d/data.csv", None),
    ({"d/job.json": NAMES}, "d/other.py", None),
    ({"d/job.json": NAMES}, "d/lib/train.py", None),
    ({"d/job.json": NAMES}, "d/lib/slipway.json", None),
    ({"d/job.json": NAMES}, "d/lib/job.json", "d/lib/|"),
    ({"d/job.json": b"{"}, "d/train.py", None),
    ({"job.json": TEMPLATE}, "d/train1.py", "d/|d/train1.py"),
    ({"job.json": TEMPLATE}, "d/tools.py", None),
    ({"job.json": TEMPLATE}, "d/slipway.json", "d/|"),
    ({"job.json": TEMPLATE}, "d/e/f/train.py", "d/e/f/|d/e/f/train.py"),
    ({"job.json": TEMPLATE, "d/job.json": NAMES}, "d/train1.py", None),
    ({"job.json": TEMPLATE, "d/job.json": NAMES}, "d/train.py", "d/|"),
    ({"d/job.json": job("python <SLIPWAY_SCRIPT>")}, "d/a/any.py", "d/a/|d/a/any.py"),
    ({"d/job.json": job("python <SLIPWAY_SCRIPT>")}, "d/a/any.csv", None),
]


@pytest.mark.parametrize(("lies", "name", "run"), PARTS)
async def test_a_file_is_part_of_what_the_job_file_of_its_folder_or_above_asks_for(
    world: World, lies: dict[str, bytes], name: str, run: str | None
) -> None:
    for blob, body in {**lies, name: lies.get(name, b"x")}.items():
        world.drops.upload(blob, body)

    assert await run_of(world.ports, name) == run


@pytest.mark.parametrize(("lies", "name", "run"), PARTS)
async def test_the_event_of_a_file_that_is_part_of_nothing_lists_and_writes_nothing(
    world: World, lies: dict[str, bytes], name: str, run: str | None
) -> None:
    for blob, body in {**lies, name: lies.get(name, b"x")}.items():
        world.drops.upload(blob, body)
    chaos = Chaos({})
    world.use(drops=Seam(world.drops, "drops", chaos))
    await world.ports.teams.get()  # the first request to a table makes its row of the version
    before = dict(world.ledger.held)

    await blob_arrived(world.ports, "scripts", name)

    assert ("drops.page" in chaos.calls) is (run is not None)
    if run is None:
        assert world.ledger.held == before
        assert world.queues.messages == []
        assert chaos.calls.count("drops.find") <= name.count("/") + 1
        assert chaos.calls.count("drops.read") <= 1


async def test_a_new_version_of_a_job_file_decides_at_once(world: World) -> None:
    world.drops.upload("d/job.json", NAMES)
    assert await run_of(world.ports, "d/data.csv") is None

    world.drops.upload("d/job.json", job("python <SLIPWAY_FOLDER>/data.csv"))

    assert await run_of(world.ports, "d/data.csv") == "d/|"


async def test_a_version_of_a_job_file_is_read_once(world: World) -> None:
    chaos = Chaos({})
    world.drops.upload("d/job.json", NAMES)
    world.use(drops=Seam(world.drops, "drops", chaos))

    for name in ("a.csv", "train.py", "b.csv"):
        await run_of(world.ports, f"d/{name}")

    assert chaos.calls.count("drops.read") == 1
    assert chaos.calls.count("drops.find") == 3


async def test_while_a_job_file_changes_any_file_may_be_part_of_its_run(world: World) -> None:
    class Changing(MemoryDrops):
        async def read(self, name: str, *, etag: str | None = None, limit: int) -> Content | None:
            return None

    world.use(drops=(drops := Changing(world.clock)))
    drops.upload("d/job.json", NAMES)

    assert await run_of(world.ports, "d/data.csv") == "d/|"


async def test_a_job_file_that_is_too_large_names_nothing(world: World) -> None:
    world.policy(max_document=10)
    world.drops.upload("d/job.json", NAMES)
    assert await run_of(world.ports, "d/train.py") is None
    assert await run_of(world.ports, "d/slipway.json") == "d/|"


# Many scripts of which one decides


RIVALS = {"job.json": job("python <SLIPWAY_SCRIPT>"), "d/b.py": b"1", "d/c.py": b"2"}
HELPERS = {"job.json": job("python <SLIPWAY_SCRIPT>"), "d/train.py": b"1", "d/lib/c.py": b"2"}


async def decided(world: World, files: dict[str, bytes], folder: str) -> None:
    for name, body in files.items():
        world.drops.upload(name, body)
    world.pass_time(60)
    await look_at_folder(world.ports, folder)


async def test_the_first_of_several_rivals_decides_for_those_behind_it(world: World) -> None:
    await decided(world, RIVALS, "d/")
    for name in ("d/a.py", "d/d.py"):
        world.drops.upload(name, b"x")
    assert [await run_of(world.ports, f"d/{n}.py") for n in "abcd"] == ["d/|d/a.py", "d/|d/b.py", None, None]


@pytest.mark.parametrize("change", ["script", "script is gone", "template"])
async def test_what_was_decided_holds_for_these_versions_only(world: World, change: str) -> None:
    await decided(world, RIVALS, "d/")
    if change == "script":
        world.drops.upload("d/b.py", b"new")
    elif change == "template":
        world.drops.upload("job.json", RIVALS["job.json"] + b" ")
    else:
        del world.drops.blobs["d/b.py"]
    assert await run_of(world.ports, "d/c.py") == "d/|d/c.py"


async def test_a_helper_below_a_script_is_part_of_nothing_while_the_script_is_there(world: World) -> None:
    await decided(world, HELPERS, "d/lib/")
    for name in ("d/lib/a.py", "d/lib/z.py"):
        assert await run_of(world.ports, name) is None
    assert await run_of(world.ports, "d/train.py") == "d/|d/train.py"

    del world.drops.blobs["d/train.py"]

    assert await run_of(world.ports, "d/lib/c.py") == "d/lib/|d/lib/c.py"


async def test_rivals_are_rejected_once_all_of_them_are_quiet(world: World) -> None:
    for name, body in RIVALS.items():
        world.drops.upload(name, body)
    world.pass_time(60)
    world.drops.upload("d/d.py", b"3")

    assert "settles" in (await look_at_folder(world.ports, "d/")).waits
    world.pass_time(60)
    assert len((await look_at_folder(world.ports, "d/")).accepted) == 1
