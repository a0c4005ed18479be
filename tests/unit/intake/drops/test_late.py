"""A file that comes after a drop was accepted is named in STATUS, with an event and without one."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from shared.core.job import Job, JobState
from shared.core.ports import Blob, BlobPage
from shared.intake.arrive import blob_arrived
from shared.intake.drops.drop import look_at_folder
from shared.intake.drops.inventory import inventory, unseen
from tests.doubles.memory import MemoryDrops
from tests.names import NAMES
from tests.unit.intake.drops.test_freeze import MOUNT, dropped, job, upload
from tests.unit.world import World

SOURCES = {"d/job.json": job(), "d/train.py": b"1", "d/lib/tools.py": b"2"}
LATE = "came after the job was accepted, and is not part of it: "


async def by_event(world: World, *names: str) -> None:
    """Each file has its event; a look that is put off comes at its time."""
    for name in names:
        await blob_arrived(world.ports, "scripts", name)
    world.pass_time(60)
    await look_at_folder(world.ports, "d/")


async def by_inventory(world: World, *names: str) -> None:
    world.pass_time(60)
    await inventory(world.ports)


def status(world: World, one: Job) -> str:
    return world.drops.receipt_files[one.status_file].decode()


WAYS = pytest.mark.parametrize("way", [by_event, by_inventory])


@WAYS
@pytest.mark.parametrize("name", ["weights.bin", "lib/late.py", "new/deep/late.csv", "slipway.json"])
async def test_a_late_file_is_named_in_status_and_in_the_record(world: World, way: object, name: str) -> None:
    assert callable(way)
    (one,) = await dropped(world, SOURCES)
    before = status(world, one)
    upload(world, {f"d/{name}": b"{}"})

    await way(world, f"d/{name}")

    assert LATE not in before
    assert f'{LATE}"{name}"\n' in status(world, one)
    assert world.receipt(one)["drop"]["late"] == f'{LATE}"{name}"'
    assert (await world.job(one.id)).code == one.code


@WAYS
async def test_an_edited_helper_is_late_as_well(world: World, way: object) -> None:
    assert callable(way)
    (one,) = await dropped(world, SOURCES)
    upload(world, {"d/lib/tools.py": b"edited"})

    await way(world, "d/lib/tools.py")

    assert f'{LATE}"lib/tools.py"' in status(world, one)


@WAYS
async def test_many_late_files_are_counted_and_a_few_are_named(world: World, way: object) -> None:
    assert callable(way)
    (one,) = await dropped(world, SOURCES)
    names = [f"d/{number:03}.csv" for number in range(200)]
    upload(world, dict.fromkeys(names, b"x"))

    await way(world, names[0])

    line = status(world, one)
    assert 'are not part of it: "000.csv", "001.csv", "002.csv" and more than 99 more' in line
    assert len((await world.job(one.id)).history) <= len(one.history) + 2


@pytest.mark.parametrize("name", [one for one in NAMES if "/" not in one])
async def test_a_hostile_name_stays_on_the_line(world: World, name: str) -> None:
    (one,) = await dropped(world, SOURCES)
    upload(world, {f"d/lib/{name}": b"x"})

    await by_inventory(world)

    line = status(world, one)
    assert line.count("\n") == 1
    assert line[:-1].isprintable()
    assert len(line) < 802


@WAYS
@pytest.mark.parametrize(
    "name", ["other/job.json", "other/helper.py", ".git/x", "lib/__pycache__/x.pyc"], ids=lambda name: name
)
async def test_what_belongs_to_no_drop_or_another_one_is_not_late(
    world: World, way: object, name: str
) -> None:
    assert callable(way)
    (one,) = await dropped(world, SOURCES | {"d/other/job.json": b"{}"})
    upload(world, {f"d/{name}": b"{}"})

    await way(world, f"d/{name}")

    assert LATE not in status(world, one)


async def test_a_script_of_a_template_that_starts_a_job_of_its_own_is_not_late(world: World) -> None:
    template = {"t/job.json": job("python <SLIPWAY_SCRIPT:run*.py>"), "t/d/run1.py": b"1"}
    (one,) = await dropped(world, template, "t/d/")
    (again, second) = await dropped(world, {"t/d/run2.py": b"2", "t/d/table.csv": b"3"}, "t/d/")

    assert (again.id, second.id != one.id) == (one.id, True)
    assert f'{LATE}"table.csv"' in status(world, one)
    assert LATE not in status(world, second)


async def test_a_job_that_has_ended_or_runs_what_lies_there_lacks_nothing(world: World) -> None:
    (ended,) = await dropped(world, SOURCES)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    await world.wake()
    mounts = job(mountVolumes={"azureBlobFileSystems": [MOUNT]})
    (live,) = await dropped(world, {"e/job.json": mounts, "e/train.py": b"1"}, "e/")
    upload(world, {"d/late.csv": b"x", "d/lib/late.csv": b"x", "e/late.csv": b"x"})

    await by_inventory(world)

    assert LATE not in status(world, ended) + status(world, live)


async def test_what_is_late_stays_said_at_the_end(world: World) -> None:
    (one,) = await dropped(world, SOURCES)
    upload(world, {"d/lib/late.csv": b"x"})
    await by_inventory(world)
    for state in (JobState.RUNNING, JobState.FAILED):
        world.engine.set_state(world.engine.started[0], state)
        await world.make_pass()
        assert (await world.job(one.id)).state is state
        await world.wake()

        assert status(world, one).startswith(state.value)
        assert LATE in status(world, one)


@dataclass
class Counting(MemoryDrops):
    """Counts the requests."""

    requests: int = 0

    async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> BlobPage:
        self.requests += 1
        return await super().page(prefix, deep=deep, after=after)

    async def find(self, name: str) -> Blob | None:
        self.requests += 1
        return await super().find(name)


async def test_an_inventory_without_late_files_looks_at_nothing(world: World) -> None:
    world.use(drops=(drops := Counting(world.clock)))
    world.drops = drops
    (one,) = await dropped(world, {"d/job.json": job(), "d/train.py": b"1"})
    upload(world, {"d/late.csv": b"x"})
    await by_inventory(world)
    assert LATE in status(world, one)
    drops.requests, written = 0, len(one.history)

    for _ in range(3):
        await by_inventory(world)

    assert drops.requests == 3
    assert not (await unseen(world.ports)).folders
    assert len((await world.job(one.id)).history) == written + 1


async def test_the_events_of_a_drop_in_its_order_cost_what_they_did(world: World) -> None:
    """Files come before the job, so their events know nothing of a frozen folder."""
    world.use(drops=(drops := Counting(world.clock)))
    world.drops = drops
    upload(world, SOURCES)
    await blob_arrived(world.ports, "scripts", "d/lib/tools.py")
    before = drops.requests
    world.pass_time(60)
    await look_at_folder(world.ports, "d/")
    drops.requests = 0

    await blob_arrived(world.ports, "scripts", "d/lib/tools.py")  # again, and late

    assert drops.requests == before + 1


async def test_a_process_that_knows_nothing_leaves_the_event_to_the_inventory(world: World) -> None:
    (one,) = await dropped(world, SOURCES)
    world.ports.memo.forget("frozen|d/")
    upload(world, {"d/lib/late.csv": b"x"})

    await blob_arrived(world.ports, "scripts", "d/lib/late.csv")
    world.pass_time(60)
    assert LATE not in status(world, one)
    await inventory(world.ports)

    assert LATE in status(world, one)
