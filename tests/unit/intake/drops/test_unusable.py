"""Dropped files whose names nothing can ask for: a note, a line in the log, and all others go on."""

from __future__ import annotations

import json
import logging

import pytest

from shared.core.errors import Unavailable
from shared.intake.arrive import blob_arrived
from shared.intake.drops.inventory import inventory
from shared.intake.drops.unusable import note_path
from shared.operate.audit import audit
from tests.doubles.memory import MemoryDrops
from tests.unit.world import World, job_json

JOB = json.dumps(job_json()).encode()
NAMES = [
    "d\\run\\job.json",
    "d/run\x01/job.json",
    "d/\u202erun/job.json",
    "/d/run/job.json",
    "d/run/job\n.json",
    "d/../run/job.json",
    "d/./run/job.json",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
async def test_it_gets_a_note_in_its_folder_a_line_in_the_log_and_an_entry_of_the_audit(
    world: World, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    world.drops.upload(name, JOB)
    world.drops.upload("good/run/job.json", JOB)
    world.pass_time(60)
    assert (await inventory(world.ports)).accepted == 1

    (place,) = [one for one in world.drops.receipt_files if "unusable-" in one]
    note = json.loads(world.drops.receipt_files[place])
    assert (note["state"], note["file"]) == ("ignored", name)
    assert note["remedy"]
    assert "no job begins with it, though one that mounts the container may read it" in note["message"]
    assert place.startswith("d/")
    assert place.isprintable()
    assert "\\" not in place
    assert sum("is left alone" in line for line in caplog.messages) == 1
    assert ascii(name) in [one.what for one in (await audit(world.ports)).differences]
    assert len(world.engine.started) == 1


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        *zip(NAMES, ["d/run", "d/run_", "d/_run", "d/run", "d/run", "d/run", "d/run"], strict=True),
        ("a/b/c\\d/job.json", "a/b/c/d"),
    ],
    ids=ascii,
)
def test_its_note_lies_in_the_folder_that_was_meant(name: str, folder: str) -> None:
    assert note_path(name).rpartition("/")[0] == folder


async def test_its_note_is_for_people_and_takes_the_place_of_an_older_one(world: World) -> None:
    world.drops.upload(NAMES[0], JOB)
    world.drops.receipt_files[note_path(NAMES[0])] = b"older words"

    await inventory(world.ports)

    assert world.drops.receipt_files[note_path(NAMES[0])].startswith(b'{\n  "state": "ignored",\n  "file"')


async def test_of_many_each_inventory_notes_a_hundred(world: World) -> None:
    for n in range(101):
        world.drops.upload(f"d\\{n}", JOB)

    noted = []
    for _ in range(3):
        await inventory(world.ports)
        noted.append(len(world.drops.receipt_files))

    assert noted == [100, 101, 101]


async def test_its_event_is_a_warning(world: World, caplog: pytest.LogCaptureFixture) -> None:
    await blob_arrived(world.ports, "scripts", NAMES[0])
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


async def test_it_is_reported_once_and_again_only_when_it_is_written_again_or_its_note_failed(
    world: World,
) -> None:
    class Counted(MemoryDrops):
        notes = 0
        fails = 1

        async def put_receipt_file(self, name: str, body: bytes, *, replace: bool) -> None:
            if self.fails:
                self.fails -= 1
                raise Unavailable("storage answered 503")
            self.notes += 1
            await super().put_receipt_file(name, body, replace=replace)

    world.use(drops=(drops := Counted(world.clock)))
    drops.upload(NAMES[0], JOB)
    for _ in range(5):
        world.pass_time(60)
        await inventory(world.ports)
    assert drops.notes == 1
    drops.upload(NAMES[0], JOB)
    await inventory(world.ports)
    assert drops.notes == 2


async def test_what_is_remembered_of_it_goes_with_the_file(world: World) -> None:
    world.drops.upload(NAMES[0], JOB)
    await inventory(world.ports)
    assert len(await world.ledger.drop_memos()) == 1
    del world.drops.blobs[NAMES[0]]
    await inventory(world.ports)
    assert await world.ledger.drop_memos() == {}


@pytest.mark.parametrize("name", ["d/__pycache__/x\\y", ".git/x\n", ".git/../x\\y"])
async def test_what_is_hidden_stays_without_a_word(world: World, name: str) -> None:
    world.drops.upload(name, JOB)
    await inventory(world.ports)
    assert world.drops.receipt_files == {}
