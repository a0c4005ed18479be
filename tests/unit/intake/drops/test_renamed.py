"""A directory that is renamed as a whole: its files keep their times, and get no events of their own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.core.errors import Unavailable
from shared.intake.arrive import message_arrived, poison_arrived
from shared.intake.drops.inventory import inventory
from tests.doubles.memory import MemoryDrops
from tests.unit.world import World, job_json

ROOT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts"
JOB = json.dumps(job_json(customToolkitSettings={"commandLine": f"python {ROOT}/new/a/train.py"})).encode()


def renamed(name: str, container: str = "scripts", **changes: Any) -> bytes:
    event = {
        "specversion": "1.0",
        "id": "1",
        "source": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/a",
        "type": "Microsoft.Storage.DirectoryRenamed",
        "subject": f"/blobServices/default/containers/{container}/blobs/{name}",
        "data": {"api": "RenameDirectory"},
    }
    return json.dumps(event | changes).encode()


@pytest.fixture
def world_of_old_files(world: World) -> World:
    """Folders whose files are older than an inventory looks back."""
    files = {
        "new/a/job.json": JOB,
        "new/a/train.py": b"",
        "new/b/c/job.json": json.dumps(job_json()).encode(),
    }
    for name, body in {**files, "newer/job.json": JOB, "new/.git/x": b"", "new/a/bad\x01": b""}.items():
        world.drops.upload(name, body)
    world.pass_time(world.ports.policy.inventory_window.total_seconds() + 3600)
    return world


async def _processed(world: World) -> int:
    """The jobs that the messages in the queue make, in any order."""
    bodies = [body for queue, body, _ in world.queues.messages if queue == "jobs"]
    world.queues.messages.clear()
    accepted = [
        one for body in reversed(bodies) for one in await message_arrived(world.ports, body.encode(), body)
    ]
    return sum(one.created for one in accepted)


@pytest.mark.parametrize("name", ["new", "new/"])
async def test_every_folder_below_it_runs_once(world_of_old_files: World, name: str) -> None:
    world = world_of_old_files
    assert (await inventory(world.ports)).accepted == 0  # which is why the event has to count

    await message_arrived(world.ports, renamed(name), "m1")
    first = await _processed(world)
    await message_arrived(world.ports, renamed(name), "m2")  # delivered twice
    second = await _processed(world)
    later = (await inventory(world.ports)).accepted

    assert (first, second, later) == (2, 0, 0)
    assert sorted(job.drop.folder for job in world.ledger.jobs if job.drop) == ["new/a", "new/b/c"]


@pytest.mark.parametrize(
    "body",
    [
        renamed("new", "runs"),
        renamed("ne"),
        renamed("", subject=""),
        renamed("new", type="Microsoft.Storage.X"),
    ],
)
async def test_another_directory_or_container_starts_nothing(world_of_old_files: World, body: bytes) -> None:
    assert await message_arrived(world_of_old_files.ports, body, "m1") == []
    assert world_of_old_files.queues.messages == []


async def test_an_event_that_the_host_gave_up_in_an_outage_is_repeated(world_of_old_files: World) -> None:
    class Losing(MemoryDrops):
        async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> Any:
            raise Unavailable("storage answered 503")

    world, drops = world_of_old_files, world_of_old_files.drops
    world.use(drops=Losing(world.clock))
    await poison_arrived(world.ports, "p1", renamed("new"))
    assert [one.reason for one in await world.dead.all() if "gave it up" in one.reason] == []

    world.use(drops=drops)
    await poison_arrived(world.ports, "p1", renamed("new"))
    assert await _processed(world) == 2
