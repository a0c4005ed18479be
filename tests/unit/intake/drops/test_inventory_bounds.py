"""What an inventory looks at, how far back, and what it costs when nothing is new."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from shared.core.job import JobState
from shared.intake.drops.inventory import inventory, unseen
from tests.doubles.memory import MemoryDrops
from tests.unit.intake.drops.test_drop import TEMPLATE
from tests.unit.intake.drops.test_inventory import Defective
from tests.unit.world import World, job_json

JOB = json.dumps(job_json()).encode()
SCRIPT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/d/train.py"
WAITS = json.dumps(job_json(customToolkitSettings={"commandLine": f"python {SCRIPT}"})).encode()
ODD = "d\\run\\job.json"


class Noted(MemoryDrops):
    """Counts the notes that are written."""

    notes = 0

    async def put_receipt_file(self, name: str, body: bytes, *, replace: bool) -> None:
        self.notes += name.endswith("waiting.json")
        await super().put_receipt_file(name, body, replace=replace)


async def test_a_job_that_an_inventory_found_says_so(world: World) -> None:
    world.drops.upload("d/job.json", JOB)
    world.pass_time(60)
    await inventory(world.ports)

    assert [job.door for job in world.ledger.jobs] == ["inventory"]


@pytest.mark.parametrize(("over", "looked"), [(0, 1), (1, 0)])
async def test_it_looks_back_as_far_as_its_window(world: World, over: float, looked: int) -> None:
    world.drops.upload("d/job.json", JOB)
    world.drops.upload(ODD, JOB)
    world.pass_time(world.ports.policy.inventory_window.total_seconds() + over)

    inventory = await unseen(world.ports)

    assert (len(inventory.folders), len(inventory.unusable)) == (looked, looked)


@pytest.mark.parametrize(("over", "stale"), [(0, 0), (1, 1)])
async def test_it_forgets_what_is_older_than_its_window(world: World, over: float, stale: int) -> None:
    world.drops.upload("d/job.json", JOB)
    uploaded = world.now
    world.pass_time(60)
    await inventory(world.ports)
    world.now = uploaded + world.ports.policy.inventory_window + timedelta(seconds=over)

    result = await unseen(world.ports)

    assert (len(result.remembered), len(result.stale)) == (1, stale)


async def test_a_template_that_is_edited_after_the_start_gives_it_nothing_to_look_at(world: World) -> None:
    world.drops.upload("digits/job.json", TEMPLATE)
    world.drops.upload("digits/run/train.py", b"print(1)")
    world.pass_time(60)
    await inventory(world.ports)
    assert [job.state for job in world.ledger.jobs] == [JobState.QUEUED]
    before = set((await unseen(world.ports)).folders)

    world.drops.upload("digits/job.json", TEMPLATE.replace(b"python", b"python3"))

    assert "digits/run/" not in before | set((await unseen(world.ports)).folders)


async def test_the_note_on_what_a_drop_waits_for_comes_when_its_upload_should_be_over(world: World) -> None:
    patience = world.ports.policy.drop_patience
    world.drops.upload("d/job.json", WAITS)
    world.pass_time(patience - 1)
    assert (await inventory(world.ports)).waiting == 0
    assert world.drops.receipt_files == {}

    world.pass_time(1)
    assert (await inventory(world.ports)).waiting == 1
    assert world.drops.receipt_files["d/waiting.json"].startswith(
        b'{\n  "state": "waiting",\n  "folder": "d/",'
    )


async def test_a_note_says_what_a_drop_waits_for_now(world: World) -> None:
    world.drops.receipt_files["d/waiting.json"] = b"older words"
    world.drops.upload("d/job.json", WAITS)
    world.pass_time(world.ports.policy.drop_patience)

    await inventory(world.ports)

    assert b"d/train.py" in world.drops.receipt_files["d/waiting.json"]


class _NotedDefect(Noted, Defective):
    """A folder over which code fails."""


async def test_a_defect_is_noted_once_and_again_when_it_comes_back(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    def reports() -> tuple[int, int]:
        return drops.notes, len([record for record in caplog.records if record.exc_info])

    drops: Any = _NotedDefect(world.clock)
    world.use(drops=drops)
    drops.upload("d/job.json", JOB)
    for _ in range(2):
        world.pass_time(120)
        await inventory(world.ports)
    assert reports() == (1, 1)

    well = Noted(world.clock)
    well.blobs, well.receipt_files = drops.blobs, drops.receipt_files
    world.use(drops=well)
    await inventory(world.ports)
    assert "d/waiting.json" not in drops.receipt_files
    world.use(drops=drops)
    drops.upload("d/job.json", JOB.replace(b"hello", b"again"))
    world.pass_time(120)
    await inventory(world.ports)
    assert reports() == (2, 2)


@pytest.mark.parametrize("is_gone", [True, False])
async def test_what_a_folder_waits_for_is_said_until_the_folder_is_gone_however_old_it_is(
    world: World, is_gone: bool
) -> None:
    world.drops.upload("d/job.json", WAITS)
    world.pass_time(60)
    await inventory(world.ports)
    assert "d/waiting.json" in world.drops.receipt_files

    if is_gone:
        del world.drops.blobs["d/job.json"]
    else:
        world.pass_time(world.ports.policy.inventory_window.total_seconds() + 1)
    await inventory(world.ports)

    assert ("d/waiting.json" in world.drops.receipt_files) == (not is_gone)
    assert not (await unseen(world.ports)).remembered
