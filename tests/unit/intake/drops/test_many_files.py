"""What a drop of many files asks of storage grows with its files, and not with their square."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from shared.core.ports import BlobPage
from shared.intake.arrive import blob_arrived, message_arrived
from shared.intake.drops.inventory import inventory
from tests.crash.chaos import Chaos, Seam
from tests.doubles.memory import MemoryDrops, MemoryLedger
from tests.unit.world import World, job_json

#: Invocations that the host runs at once.
_AT_ONCE = 8


def job(command: str) -> bytes:
    return json.dumps(job_json(customToolkitSettings={"commandLine": command})).encode()


OWN, TEMPLATE, ANY = (
    job(f"python {name}")
    for name in ("<SLIPWAY_FOLDER>/train.py", "<SLIPWAY_SCRIPT:run*.py>", "<SLIPWAY_SCRIPT>")
)


@dataclass
class Weighed(MemoryDrops):
    """Counts the blobs that lists contain."""

    blobs_listed: int = 0

    async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> BlobPage:
        page = await super().page(prefix, deep=deep, after=after)
        self.blobs_listed += len(page.blobs)
        return page


@dataclass
class Cost:
    """All calls of storage and the queue, and the blobs that lists contained."""

    world: World
    drops: Weighed
    chaos: Chaos = field(default_factory=lambda: Chaos({}))

    @property
    def total(self) -> int:
        return len(self.chaos.calls) + self.drops.blobs_listed


@pytest.fixture
def cost(world: World) -> Cost:
    drops = Weighed(world.clock)
    world.drops = drops
    result = Cost(world, drops)
    table = Seam(world.ledger.table, "table", result.chaos)
    world.use(
        drops=Seam(drops, "drops", result.chaos),
        queues=Seam(world.queues, "queues", result.chaos),
        ledger=MemoryLedger(world.clock, table=table),
    )
    return result


async def events(world: World, names: Sequence[str]) -> None:
    """The events of these files, as many at once as the host handles, while the time passes."""
    for at in range(0, len(names), _AT_ONCE):
        await asyncio.gather(
            *(blob_arrived(world.ports, "scripts", name) for name in names[at : at + _AT_ONCE])
        )
        world.pass_time(0.1)
        await _looks(world, at_most=1)


async def _looks(world: World, at_most: float) -> None:
    """The delayed looks that are due by then."""
    due = [one for one in world.queues.messages if one[2] <= at_most]
    world.queues.messages[:] = [
        (q, body, delay - 0.1) for q, body, delay in world.queues.messages if delay > at_most
    ]
    for _, body, _ in due:
        await message_arrived(world.ports, body.encode(), "m")


def flat(files: int) -> dict[str, bytes]:
    data = {f"d/part-{n:05d}.txt": b"x" for n in range(files)}
    return data | {"d/job.json": OWN, "d/train.py": b"1"}


def nested(files: int) -> dict[str, bytes]:
    return {"d/job.json": OWN, "d/train.py": b"1"} | {f"d/data/{n % 7}/{n}.txt": b"x" for n in range(files)}


def scripts(files: int) -> dict[str, bytes]:
    return {"job.json": TEMPLATE} | {f"d/run{n:05d}.py": b"x" for n in range(files)}


def rivals(files: int) -> dict[str, bytes]:
    return {"job.json": ANY} | {f"d/helper{n:05d}.py": b"x" for n in range(files)}


def helpers(files: int) -> dict[str, bytes]:
    return {"job.json": ANY, "d/train.py": b"1"} | {f"d/lib/tools{n:05d}.py": b"x" for n in range(files)}


def lost(files: int) -> dict[str, bytes]:
    return {f"d/part-{n:05d}.txt": b"x" for n in range(files)}


Drop = Callable[[int], dict[str, bytes]]
DROPS = (flat, nested, scripts, rivals, helpers, lost)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("drop", DROPS, ids=lambda drop: drop.__name__)
async def test_requests_grow_with_the_files(world: World, cost: Cost, drop: Drop, late: bool) -> None:
    totals = []
    for number in (20, 80):
        files, before = {f"{number}/{name}": body for name, body in drop(number).items()}, cost.total
        await _dropped(world, files, late)
        totals.append(cost.total - before)
    assert totals[1] <= 5 * totals[0], totals


async def _dropped(world: World, files: dict[str, bytes], late: bool) -> None:
    """All files at once, and their events twice, the second time long after the folder was handled."""
    for name, body in files.items():
        world.drops.upload(name, body)
    if late:
        world.pass_time(60)
    await events(world, list(files))
    await _looks(world, at_most=60)
    world.pass_time(600)
    await events(world, list(files))


async def test_of_a_drop_of_many_files_that_names_one_the_folder_is_listed_a_few_times(
    world: World, cost: Cost
) -> None:
    await _dropped(world, flat(499), late=False)
    assert len(world.engine.started) == 1
    assert cost.drops.blobs_listed <= 3 * 501
    assert len(cost.chaos.calls) <= 2 * 2 * 501 + 502


@pytest.mark.long
async def test_every_script_of_many_runs_once(world: World, cost: Cost) -> None:
    await _dropped(world, scripts(40), late=False)
    assert len(world.engine.started) == 40


async def test_events_that_come_at_once_share_one_look_at_a_time(world: World) -> None:
    class Slow(MemoryDrops):
        """Answers later, as storage does."""

        lists, at_once, most_at_once = 0, 0, 0

        async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> BlobPage:
            self.lists, self.at_once = self.lists + 1, self.at_once + 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            for _ in range(5):
                await asyncio.sleep(0)
            self.at_once -= 1
            return await super().page(prefix, deep=deep, after=after)

    world.use(drops=(drops := Slow(world.clock)))
    for name, body in flat(3).items():
        drops.upload(name, body)
    world.pass_time(60)

    results = await asyncio.gather(
        *(blob_arrived(world.ports, "scripts", f"d/{name}") for name in ("job.json", "train.py") * 20)
    )

    assert (drops.most_at_once, drops.lists) == (1, 2), "the first one, and one for all who came meanwhile"
    assert {one.job.id for result in results for one in result.accepted} == {world.ledger.jobs[0].id}


async def test_an_event_that_joins_an_ordered_look_costs_one_request(world: World, cost: Cost) -> None:
    for name, body in flat(1).items():
        world.drops.upload(name, body)
    await blob_arrived(world.ports, "scripts", "d/job.json")
    before = cost.total
    await blob_arrived(world.ports, "scripts", "d/job.json")
    assert cost.total == before + 1


# A bound on the files of one folder


@pytest.mark.parametrize(("files", "runs"), [(10, 1), (11, 0)])
async def test_a_folder_of_too_many_files_runs_nothing_and_says_why(
    world: World, files: int, runs: int
) -> None:
    world.policy(max_files=10)
    for name, body in flat(files - 2).items():
        world.drops.upload(name, body)
    world.drops.upload("d/.hidden", b"x")
    world.pass_time(120)
    await blob_arrived(world.ports, "scripts", "d/job.json")
    counted = await inventory(world.ports)

    assert len(world.engine.started) == runs
    assert counted.waiting == 1 - runs
    if not runs:
        note = json.loads(world.drops.receipt_files["d/waiting.json"])
        assert note["message"].startswith("the folder holds more than 10 files")
        assert "slipway data put" in note["message"]


async def test_a_folder_that_had_too_many_files_runs_once_they_are_gone(world: World) -> None:
    world.policy(max_files=10)
    for name, body in flat(20).items():
        world.drops.upload(name, body)
    world.pass_time(120)
    await inventory(world.ports)
    for name in [name for name in world.drops.blobs if name.endswith(".txt")]:
        del world.drops.blobs[name]
    world.pass_time(120)

    assert (await inventory(world.ports)).accepted == 1
    assert "d/waiting.json" not in world.drops.receipt_files


# Pages


async def test_a_list_of_many_pages_is_read_whole(world: World) -> None:
    world.drops.most = 3
    for name, body in flat(10).items():
        world.drops.upload(name, body)
    world.pass_time(120)
    assert (await inventory(world.ports)).accepted == 1
    assert (await inventory(world.ports)).looked == 0
    world.drops.upload("d/part-00009.txt", b"y")
    assert (await inventory(world.ports)).looked == 1


async def test_a_script_on_a_later_page_above_keeps_helpers_from_running(world: World) -> None:
    world.drops.most = 2
    for name in ("a", "b", "c", "d", "train.py"):
        world.drops.upload(f"t/x/{name}", b"1")
    world.drops.upload("t/job.json", ANY)
    world.drops.upload("t/x/lib/tools.py", b"1")
    world.pass_time(120)
    assert (await inventory(world.ports)).accepted == 1


async def test_an_empty_page_is_not_the_end(world: World) -> None:
    class Gaps(MemoryDrops):
        """As storage may answer at the border of a partition."""

        async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> BlobPage:
            return await super().page(prefix, deep=deep) if after else BlobPage((), "!")

    world.use(drops=(drops := Gaps(world.clock)))
    for name, body in flat(3).items():
        drops.upload(name, body)
    world.pass_time(120)
    assert (await inventory(world.ports)).accepted == 1
