"""The record of a run in a container: its place names a job to look at; what it says is no one's business."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.core.job import Job, JobState, Reason
from shared.intake.arrive import blob_arrived, message_arrived
from shared.lifecycle.push import job_of_record
from tests.doubles.memory import MemoryDrops
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}
OTHER = "j_" + "a" * 24


def place(job: str) -> str:
    return f"cluster/.slipway/ends/{job}.1/result.json"


def created(name: str, type_: str = "Microsoft.Storage.BlobCreated", **data: Any) -> bytes:
    """The event as Event Grid has it, about a blob of a container that nodes mount."""
    subject = f"/blobServices/default/containers/logs/blobs/{name}"
    event = {"id": "1", "topic": "/x", "subject": subject, "eventType": type_, "data": data}
    return json.dumps([event]).encode()


async def push(world: World, *names: str, **data: Any) -> None:
    for name in names:
        assert await message_arrived(world.ports, created(name, **data), "push") == []


async def queued(world: World) -> Job:
    return (await world.message({"spec": job_json(), "notify": [HOOK]})).job


class CountingEngine(MemoryEngine):
    """Counts who is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []

    async def see(self, target: Any) -> Any:
        self.targets.append(target.name)
        return await super().see(target)


@pytest.fixture
def requests(world: World) -> CountingEngine:
    world.engine = engine = CountingEngine()
    world.use(engines=type(world.ports.engines)(engine))  # type: ignore[call-arg]
    return engine


@pytest.mark.parametrize("type_", ["Microsoft.Storage.BlobCreated", "Microsoft.Storage.BlobRenamed"])
async def test_the_event_of_a_record_tells_the_end_without_a_pass(world: World, type_: str) -> None:
    job = await queued(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)

    await message_arrived(world.ports, created(place(job.id), type_), "push")

    assert (await world.job(job.id)).state is JobState.SUCCEEDED
    assert [event["data"]["state"] for event in world.events()] == ["succeeded"]
    assert [one for one in world.queues.messages if one[0] == "jobs"] == []  # no other look


async def test_the_blob_trigger_of_the_drop_container_sees_it_too(world: World) -> None:
    job = await queued(world)
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.USER)

    looked = await blob_arrived(world.ports, "scripts", f".slipway/ends/{job.id}.1/result.json")

    assert (await world.job(job.id)).state is JobState.FAILED
    assert (looked.accepted, looked.waits) == ((), "")


async def test_a_forged_end_changes_nothing_and_is_looked_at_once_more_at_most(world: World) -> None:
    job = await queued(world)
    rows = dict(world.ledger.rows)

    await push(world, place(job.id))
    ((queue, notice, delay),) = world.queues.messages
    await message_arrived(world.ports, notice.encode(), "again")

    assert world.ledger.rows == rows
    assert world.events() == []
    assert (queue, delay > 0, len(world.queues.messages)) == ("jobs", True, 1)


async def test_a_scheduler_that_learns_of_the_end_a_moment_later_is_asked_again(world: World) -> None:
    job = await queued(world)
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await push(world, place(job.id))
    assert not world.events()

    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    ((_, notice, _),) = world.queues.messages
    await message_arrived(world.ports, notice.encode(), "again")

    assert [event["data"]["state"] for event in world.events()] == ["succeeded"]


async def test_the_exit_code_of_a_forged_record_is_not_the_jobs(world: World) -> None:
    job = await queued(world)
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.USER, exit_code=3)
    forged = {"state": "ended", "final": True, "code": 0, "exitCode": 0, "token": f"{job.id}.1"}
    world.drops.upload(place(job.id), json.dumps(forged).encode())

    await push(world, place(job.id), **forged)

    ended = await world.job(job.id)
    assert (ended.state, ended.exit_code) == (JobState.FAILED, 3)


async def test_the_record_of_a_job_that_does_not_exist_asks_no_one(
    world: World, requests: CountingEngine
) -> None:
    job = await queued(world)
    rows = dict(world.ledger.rows)

    await push(world, place(OTHER))

    assert requests.targets == []
    assert world.queues.messages == []
    assert world.ledger.rows == rows
    assert (await world.job(job.id)).state is JobState.QUEUED


async def test_a_record_of_an_earlier_attempt_does_not_end_the_next_one(world: World) -> None:
    job = (await world.message({"spec": job_json(), "notify": [HOOK], "retry": {"infrastructure": 1}})).job
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.PREEMPTED)
    await world.make_pass()
    await world.make_pass()

    await push(world, place(job.id))

    again = await world.job(job.id)
    assert (again.state, again.attempt) == (JobState.QUEUED, 2)


async def test_a_doubled_or_late_event_tells_no_one_twice(world: World) -> None:
    job = await queued(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()

    await push(world, place(job.id), place(job.id))

    assert len(world.events()) == 1
    assert world.queues.messages == []


async def test_a_lost_event_costs_only_the_time_until_the_sweep(world: World) -> None:
    job = await queued(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)

    await world.make_pass()

    assert (await world.job(job.id)).state is JobState.SUCCEEDED
    assert len(world.events()) == 1


async def test_no_byte_of_a_record_is_read_however_many_it_has(
    world: World, requests: CountingEngine
) -> None:
    class Unread(MemoryDrops):
        async def read(self, name: str, *, etag: str | None = None, limit: int) -> Any:
            raise AssertionError(f"{name} was read")

        async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> Any:
            raise AssertionError(f"{prefix} was listed")

        async def find(self, name: str) -> Any:
            raise AssertionError(f"{name} was sought")

    job = await queued(world)
    drops = Unread(world.clock)
    drops.upload(place(job.id), b"{" * 40_000_000)
    world.use(drops=drops)

    await push(world, place(job.id), contentLength=40_000_000)
    await blob_arrived(world.ports, "scripts", place(job.id))

    assert requests.targets == [*requests.started, *requests.started]


async def test_a_place_that_climbs_leads_nowhere_but_to_the_job_that_it_names(
    world: World, requests: CountingEngine
) -> None:
    jobs = [(await world.message({"spec": job_json()}, f"m{n}")).job for n in range(2)]

    await push(world, f"../../{place(jobs[0].id)}", f"ends/{jobs[0].id}.1/../{jobs[1].id}.1/../result.json")

    assert requests.targets == requests.started[:1]


@pytest.mark.parametrize(
    "name",
    [
        "result.json",
        "j_short.1/result.json",
        f"{OTHER}/result.json",
        f"{OTHER}.one/result.json",
        f"{OTHER}.1/result.json.node-1.4711",
        f"{OTHER}.1/RESULT.JSON",
        f"x{OTHER}.1/result.json",
        f"{OTHER}.1/../result.json",
        f"{OTHER.upper()}.1/result.json",
        f"{OTHER}.{'1' * 4000}/result.json",
        f"{OTHER}.\u0661/result.json",
        f"{OTHER}.1/result.json\n",
    ],
)
def test_only_the_exact_name_is_a_record(name: str) -> None:
    assert job_of_record(name) is None


def test_a_record_may_lie_in_any_folder() -> None:
    names = {job_of_record(f"{folder}{OTHER}.12/result.json") for folder in ("", "a/", "../", "/a b/\n/.c/")}
    assert names == {OTHER}
