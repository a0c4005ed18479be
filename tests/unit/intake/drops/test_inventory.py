"""What the inventory looks at again after any failure, and what it leaves alone."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from shared.core.errors import Unavailable
from shared.core.job import Job, JobState, Stored
from shared.core.ports import Content
from shared.intake.arrive import blob_arrived
from shared.intake.drops.inventory import inventory
from tests.doubles.memory import MemoryDrops, MemoryLedger
from tests.unit.world import World, job_json

SCRIPT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/d/run/train.py"
JOB = json.dumps(job_json(customToolkitSettings={"commandLine": f"python {SCRIPT}"})).encode()
TEMPLATE = json.dumps(job_json(customToolkitSettings={"commandLine": "python <SLIPWAY_SCRIPT>"})).encode()
EACH = TEMPLATE.replace(b"<SLIPWAY_SCRIPT>", b"<SLIPWAY_SCRIPT:train*.py>")
BAD = json.dumps(
    job_json(nodeCount=-1, customToolkitSettings={"commandLine": "python <SLIPWAY_SCRIPT>"})
).encode()


class OnceUnable(MemoryLedger):
    """It cannot record the job of that name at the first time."""

    name = ""

    async def create(self, job: Job, *rest: object) -> Stored:
        """Fail once, when all others have had their turns."""
        if job.name == self.name:
            self.name = ""
            for _ in range(1000):
                await asyncio.sleep(0)
            raise Unavailable("storage answered 503")
        return await super().create(job, *rest)  # type: ignore[arg-type]


class LimitedDrops(MemoryDrops):
    """Names of files in `runs` are limited as the service limits them, and a removal may fail once."""

    fails = 0

    async def put_receipt_file(self, name: str, body: bytes, *, replace: bool) -> None:
        """1,024 characters, as it counts them."""
        if len(name.encode("utf-16-le")) > 2 * 1024:
            raise Unavailable("storage answered 400 InvalidResourceName")
        await super().put_receipt_file(name, body, replace=replace)

    async def delete_receipt_file(self, name: str) -> None:
        if self.fails:
            self.fails -= 1
            raise Unavailable("storage answered 503")
        await super().delete_receipt_file(name)


async def _later(world: World, seconds: float = 120) -> tuple[int, int]:
    """The next inventory: how many folders it looked at, and how many jobs it made."""
    world.pass_time(seconds)
    counted = await inventory(world.ports)
    return counted.looked, counted.accepted


async def test_a_script_whose_record_failed_is_found_though_its_sibling_was_recorded(world: World) -> None:
    ledger = OnceUnable(world.clock)
    ledger.name = "train2"
    world.use(ledger=ledger)
    for name, body in (("job.json", EACH), ("a/train1.py", b"1"), ("a/train2.py", b"2")):
        world.drops.upload(f"digits/{name}", body)

    assert await _later(world) == (2, 0)  # the folder of the template, too
    assert await _later(world) == (2, 1)

    assert sorted(order.document["properties"]["nodeCount"] for order in world.engine.orders) == [1, 1]
    assert await _later(world) == (1, 0)


async def test_a_script_that_changed_while_it_was_read_is_found_though_its_sibling_was_recorded(
    world: World,
) -> None:
    class Changing(MemoryDrops):
        """The version of train2 that was listed is gone when it is read for the first time."""

        deleted = True

        async def read(self, name: str, *, etag: str | None = None, limit: int) -> Content | None:
            if name.endswith("train2.py") and self.deleted:
                self.deleted = False
                return None
            return await super().read(name, etag=etag, limit=limit)

    world.use(drops=(drops := Changing(world.clock)))
    for name, body in (("job.json", EACH), ("a/train1.py", b"1"), ("a/train2.py", b"2")):
        drops.upload(f"digits/{name}", body)

    assert await _later(world) == (2, 1)
    assert await _later(world) == (2, 1)
    assert await _later(world) == (1, 0)


async def test_a_script_that_is_explained_does_not_hide_its_sibling(world: World) -> None:
    world.drops.upload("digits/job.json", EACH)
    world.drops.upload("digits/a/train1.py", b"1", "explain")
    world.drops.upload("digits/a/train2.py", b"2")

    assert await _later(world, 3600) == (2, 1)
    assert await _later(world) == (1, 0)
    assert "digits/a/train1/explain.md" in world.drops.receipt_files


async def test_a_template_that_is_no_longer_explained_runs_what_lies_below_it(world: World) -> None:
    world.drops.upload("digits/job.json", TEMPLATE, "explain")
    world.drops.upload("digits/a/train.py", b"1")
    assert await _later(world) == (2, 0)
    assert await _later(world) == (1, 0)

    world.drops.upload("digits/job.json", TEMPLATE)

    assert await _later(world) == (2, 1)
    assert await _later(world) == (1, 0)


async def test_one_folder_that_cannot_be_dealt_with_stops_no_other(world: World) -> None:
    class Refusing(MemoryDrops):
        async def put_receipt_file(self, name: str, body: bytes, *, replace: bool) -> None:
            if name.startswith("aaa/"):
                raise ValueError("an unexpected error")
            await super().put_receipt_file(name, body, replace=replace)

    world.use(drops=(drops := Refusing(world.clock)))
    drops.upload("aaa/train.py", b"1")
    drops.upload("d/run/job.json", JOB)
    drops.upload("d/run/train.py", b"1")

    assert await _later(world, 300) == (2, 1)


@pytest.mark.parametrize("letter", ["x", "\N{ROCKET}"])
async def test_a_folder_whose_name_is_as_long_as_can_be_has_its_receipts(world: World, letter: str) -> None:
    world.use(drops=(drops := LimitedDrops(world.clock)))
    world.drops = drops
    levels = "/".join([letter * (252 // len(letter.encode()))] * 9)  # a node takes 255 bytes a level
    folder = levels.encode("utf-16-le")[: 2 * 1010].decode("utf-16-le", "ignore")
    drops.upload(f"{folder}/train.py", b"1")
    assert (await inventory(world.ports)).waiting == 0
    world.pass_time(120)
    assert (await inventory(world.ports)).waiting == 1
    (note,) = drops.receipt_files
    assert note.endswith("/waiting.json")

    drops.upload(f"{folder}/job.json", json.dumps(job_json()).encode())
    world.pass_time(120)
    looked = await blob_arrived(world.ports, "scripts", f"{folder}/job.json")
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()

    assert note not in drops.receipt_files
    assert world.receipt(looked.accepted[0].job)["state"] == "succeeded"


async def test_a_template_that_is_mended_runs_what_was_rejected_for_it(world: World) -> None:
    world.drops.upload("digits/job.json", BAD)
    world.drops.upload("digits/a/train.py", b"1")
    assert await _later(world) == (2, 1)
    assert await _later(world) == (1, 0)
    assert world.engine.started == []

    world.drops.upload("digits/job.json", TEMPLATE)

    assert await _later(world) == (2, 1)
    assert len(world.engine.started) == 1
    assert await _later(world) == (1, 0)


async def test_an_event_of_the_script_runs_what_a_mended_template_asks_for(world: World) -> None:
    world.drops.upload("digits/job.json", BAD)
    world.drops.upload("digits/a/train.py", b"1")
    world.pass_time(30)
    await blob_arrived(world.ports, "scripts", "digits/a/train.py")
    world.drops.upload("digits/job.json", TEMPLATE)
    world.pass_time(30)

    looked = await blob_arrived(world.ports, "scripts", "digits/a/train.py")

    assert [(one.created, one.job.state) for one in looked.accepted] == [(True, JobState.QUEUED)]


@pytest.mark.parametrize("mended", [b'{"name": "mine"}', None])
async def test_what_its_envelope_rejected_runs_when_that_is_mended_or_gone(
    world: World, mended: bytes | None
) -> None:
    for name, body in (("job.json", JOB), ("train.py", b"1"), ("slipway.json", b'{"nmae": 1}')):
        world.drops.upload(f"d/run/{name}", body)
    assert await _later(world) == (1, 1)
    assert world.engine.started == []

    if mended:
        world.drops.upload("d/run/slipway.json", mended)
    else:
        del world.drops.blobs["d/run/slipway.json"]

    assert await _later(world) == (1, 1)
    assert len(world.engine.started) == 1


@pytest.mark.parametrize("wait", [0.0, 3600.0])
async def test_an_envelope_that_is_added_after_the_end_runs_nothing_again(world: World, wait: float) -> None:
    world.drops.upload("d/run/job.json", JOB)
    world.drops.upload("d/run/train.py", b"1")
    assert await _later(world) == (1, 1)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    world.pass_time(wait)

    world.drops.upload("d/run/slipway.json", b'{"name": "mine"}')

    assert await _later(world) == (1, 0)
    assert await _later(world) == (0, 0)
    assert len(world.engine.started) == 1


async def test_a_note_whose_removal_failed_is_removed_later(world: World) -> None:
    world.use(drops=(drops := LimitedDrops(world.clock)))
    drops.upload("d/run/job.json", JOB)
    assert await _later(world) == (1, 0)
    assert "d/run/waiting.json" in drops.receipt_files
    drops.upload("d/run/train.py", b"1")
    drops.fails = 1

    assert await _later(world) == (1, 0)  # the removal failed after the record
    assert await _later(world) == (1, 0)

    assert "d/run/waiting.json" not in drops.receipt_files
    assert len(world.engine.started) == 1
    assert await _later(world) == (0, 0)


async def test_a_note_that_came_while_the_drop_was_accepted_is_removed_later(world: World) -> None:
    class Late(MemoryLedger):
        """Between the look of an inventory and its note, the drop is completed."""

        waits = False

        async def remember(self, observation: object) -> None:
            if getattr(observation, "waiting", False) and not self.waits:
                self.waits = True
                world.drops.upload("d/run/train.py", b"1")
                world.pass_time(60)
                await blob_arrived(world.ports, "scripts", "d/run/train.py")
            await super().remember(observation)  # type: ignore[arg-type]

    world.use(ledger=Late(world.clock))
    world.drops.upload("d/run/job.json", JOB)
    assert await _later(world) == (1, 0)
    assert "d/run/waiting.json" in world.drops.receipt_files

    assert await _later(world) == (1, 0)

    assert "d/run/waiting.json" not in world.drops.receipt_files
    assert await _later(world) == (0, 0)


class Defective(MemoryDrops):
    """Reading a file fails, as code does."""

    async def read(self, name: str, **request: Any) -> Content | None:
        """Not this time, nor another."""
        raise ArithmeticError("canary-77")


async def test_a_defect_in_a_folder_leaves_a_note_and_one_traceback(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    drops = Defective(world.clock)
    world.use(drops=drops)
    drops.upload("digits/job.json", JOB)

    assert [await _later(world) for _ in range(3)] == [(1, 0)] * 3

    note = json.loads(drops.receipt_files["digits/waiting.json"])
    assert note["message"].startswith("Slipway failed over this folder;")
    assert "canary-77" not in json.dumps(note)
    assert len([record for record in caplog.records if record.exc_info]) == 1
