"""A file that comes after a drop was accepted is named in STATUS, with an event and without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from shared.core.caller import KEY_HOLDER
from shared.core.errors import Unavailable
from shared.core.job import Job, JobState, Stored
from shared.core.ledger.entries import Change
from shared.core.ports import Blob, BlobPage
from shared.intake.arrive import blob_arrived
from shared.intake.drops.drop import look_at_folder
from shared.intake.drops.inventory import inventory, unseen
from shared.intake.rerun import rerun
from tests.doubles.memory import MemoryDrops, MemoryLedger
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


async def test_an_edited_template_is_not_late(world: World) -> None:
    template = job("python <SLIPWAY_SCRIPT:run*.py>")
    (one,) = await dropped(world, {"t/job.json": template, "t/d/run1.py": b"1"}, "t/d/")

    (again,) = await dropped(world, {"t/job.json": template + b" "}, "t/d/")

    assert again.id == one.id
    assert "came after" not in status(world, one)


async def test_a_rerun_does_not_lack_what_came_before_it(world: World) -> None:
    (one,) = await dropped(world, SOURCES)
    upload(world, {"d/lib/late.csv": b"x"})
    await by_inventory(world)
    assert LATE in status(world, one)

    again = await rerun(world.ports, one.id, None, who=KEY_HOLDER, key="r")

    assert again.job.drop is not None
    assert again.job.drop.late == ""
    assert LATE not in status(world, again.job)


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


async def test_a_script_that_is_gone_brings_no_inventory_back(world: World) -> None:
    files = {"t/job.json": job("python <SLIPWAY_SCRIPT:run*.py>"), "t/d/run1.py": b"1", "t/d/run2.py": b"2"}
    await dropped(world, files, "t/d/")
    del world.drops.blobs["t/d/run1.py"]
    upload(world, {"t/d/lib/late.csv": b"x"})
    world.pass_time(60)
    assert "t/d/" in (await unseen(world.ports)).folders

    await by_inventory(world)

    assert "t/d/" not in (await unseen(world.ports)).folders


@dataclass
class Unreachable(MemoryDrops):
    """Its container of receipts takes no write for a while."""

    is_away: bool = False

    async def put_status(self, name: str, line: bytes, sequence: int, *, fresh: bool = False) -> bool:
        if self.is_away:
            raise Unavailable("storage did not answer")
        return await super().put_status(name, line, sequence, fresh=fresh)


async def test_a_status_that_could_not_be_written_is_written_by_the_sweeper(world: World) -> None:
    world.use(drops=(drops := Unreachable(world.clock)))
    world.drops = drops
    (one,) = await dropped(world, SOURCES | {"d/.env": b"x"})
    upload(world, {"d/lib/late.csv": b"x"})
    drops.is_away = True
    await by_inventory(world)
    assert LATE not in status(world, one)
    drops.is_away = False

    await world.make_pass()

    assert f'left out: hidden files and folders of tools (".env"); {LATE}' in status(world, one)
    assert world.receipt(one)["drop"]["late"].startswith(LATE)


class Contended(MemoryLedger):
    """Each record that is noted was changed by another process just before."""

    is_contended = False

    async def commit(self, changes: Sequence[Change]) -> list[Stored | None]:
        return [None] * len(changes) if self.is_contended else await super().commit(changes)


async def test_what_another_process_prevents_is_said_by_the_next_inventory(world: World) -> None:
    world.use(ledger=(ledger := Contended(world.clock)))
    (one,) = await dropped(world, SOURCES)
    upload(world, {"d/late.csv": b"x"})
    ledger.is_contended = True
    await by_inventory(world)
    assert LATE not in status(world, one)
    ledger.is_contended = False

    await by_inventory(world)

    assert LATE in status(world, one)


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
