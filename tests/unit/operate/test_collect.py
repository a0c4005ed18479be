"""Which archives of code are kept, and which go."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from shared.core.caller import KEY_HOLDER
from shared.core.code.snapshots import Snapshot
from shared.core.errors import Misuse, Unavailable
from shared.core.job import Job, JobState
from shared.core.job_sweeps.record import StoredSweep
from shared.intake.message import read_request
from shared.intake.request_door import sweep_requested
from shared.intake.rerun import rerun
from shared.lifecycle.archive import archive
from shared.lifecycle.collect import Collected, collect, collect_now_and_then
from shared.operate.audit import audit
from tests.doubles.memory_snapshots import MemorySnapshots
from tests.unit.archived_code import archived, blob
from tests.unit.world import World, job_json

DAY = 86_400
RETENTION = 30


async def job_of(world: World, data: bytes = b"an archive") -> Job:
    return (await world.message({"spec": job_json(), "code": archived(world, data)}, f"m{data!r}")).job


async def end(world: World, job: Job) -> None:
    world.engine.set_state(job.target.name if job.target else "", JobState.SUCCEEDED)
    await world.make_pass()
    assert (await world.job(job.id)).state is JobState.SUCCEEDED


def no_answer() -> None:
    raise Unavailable("storage did not answer")


class Silent(MemorySnapshots):
    """Storage that does not answer."""

    async def listed(self) -> AsyncIterator[Snapshot]:
        no_answer()
        async for one in super().listed():
            yield one


@pytest.fixture(autouse=True)
def retention(world: World) -> None:
    world.policy(retention=timedelta(days=RETENTION))


async def test_code_that_no_job_was_accepted_with_goes_after_two_days(world: World) -> None:
    archived(world)

    world.pass_time(2 * DAY)
    assert await collect(world.ports) == Collected()
    world.pass_time(60)
    assert await collect(world.ports) == Collected(deleted=1)


@pytest.mark.parametrize(
    "name",
    [
        "thesis/final.csv",
        "final.csv",
        "a" * 64,
        f"digits/run/{'a' * 64}",
        f"all/{'A' * 64}",
        f"all/{'a' * 63}",
        f"all/{'a' * 64}\n",
        "digits/run/run-4h2kq7abcdefgh23/receipt.json",
    ],
)
async def test_what_does_not_have_the_name_of_an_archive_is_left_alone(world: World, name: str) -> None:
    await world.snapshots.put(name, b"mine")
    await world.snapshots.put(f"other/{'b' * 64}", b"code")

    world.pass_time(1_000 * DAY)

    assert await collect(world.ports) == Collected(deleted=1)
    assert [*world.snapshots.data] == [name]


async def test_the_code_of_a_job_that_works_for_months_stays_young(world: World) -> None:
    job = await job_of(world)

    for _ in range(100):
        world.pass_time(2 * DAY)
        assert await collect(world.ports) == Collected(renewed=1)

    await end(world, job)
    world.pass_time((RETENTION + 3) * DAY)
    await archive(world.ports)
    assert await collect(world.ports) == Collected(deleted=1)


async def test_the_code_of_a_job_that_has_ended_outlives_its_record(world: World) -> None:
    job = await job_of(world)
    await end(world, job)

    world.pass_time((RETENTION + 2) * DAY)
    await archive(world.ports)
    assert await collect(world.ports) == Collected()
    world.pass_time(2 * DAY)
    assert await collect(world.ports) == Collected(deleted=1)


async def test_a_job_whose_record_is_archived_runs_again_as_it_ran_until_its_code_goes(world: World) -> None:
    job = await job_of(world)
    await end(world, job)
    world.pass_time((RETENTION + 1) * DAY)
    assert (await archive(world.ports)).jobs == 1
    await collect(world.ports)

    assert (await world.job(job.id)).archived
    again = await rerun(world.ports, job.id, None, who=KEY_HOLDER, key="r")
    assert (again.job.rerun_of, again.job.code) == (job.id, job.code)
    digests = [order.code.sha256 for order in world.engine.orders if order.code is not None]
    assert len(digests) == 2
    assert len(set(digests)) == 1
    # What runs again keeps the code, however old the first record is.
    await end(world, again.job)
    world.pass_time((RETENTION + 2) * DAY)
    assert await collect(world.ports) == Collected(renewed=1)
    await archive(world.ports)
    world.pass_time((RETENTION + 4) * DAY)
    assert await collect(world.ports) == Collected(deleted=1)

    with pytest.raises(Misuse, match=f"the code of {job.id} was deleted") as refused:
        await rerun(world.ports, job.id, None, who=KEY_HOLDER, key="later")
    assert refused.value.status == 410


async def test_a_record_that_waits_for_its_cluster_or_a_receiver_keeps_its_code(world: World) -> None:
    await end(world, await job_of(world))

    world.pass_time((RETENTION + 10) * DAY)

    assert await collect(world.ports) == Collected(renewed=1)
    await archive(world.ports)
    world.pass_time((RETENTION + 4) * DAY)
    assert await collect(world.ports) == Collected(deleted=1)


async def test_while_the_record_of_an_ended_job_cannot_be_read_nothing_goes(world: World) -> None:
    job = await job_of(world)
    await end(world, job)
    (key,) = [key for key in world.ledger.held if key[1] == f"j|{job.id}"]
    row = world.ledger.held[key].row
    row.update({name: "damaged" for name in row if name not in ("PartitionKey", "RowKey")})

    world.pass_time((RETENTION + 10) * DAY)

    assert await collect(world.ports) == Collected()


async def test_without_a_retention_code_stays_for_good(world: World) -> None:
    world.policy(retention=timedelta())
    await end(world, await job_of(world))
    archived(world, b"never accepted")

    world.pass_time(10_000 * DAY)

    assert await collect(world.ports) == Collected(deleted=1)
    assert len(world.snapshots.data) == 1


async def test_a_sweep_that_goes_on_keeps_the_code_of_its_jobs(world: World) -> None:
    world.policy(paused=True)
    body = {"spec": job_json(), "code": archived(world), "sweep": {"lr": [0.1, 0.3]}, "parallel": 1}
    request = read_request(str(body).replace("'", '"').encode(), world.ports.policy.limits)
    await sweep_requested(world.ports, request, door="http", source="http:", key="k")
    for key in [key for key in world.ledger.held if key[1].startswith("n|")]:
        del world.ledger.held[key]  # as if none of its jobs were recorded yet

    world.pass_time(100 * DAY)

    assert await collect(world.ports) == Collected(renewed=1)


async def test_while_a_record_cannot_be_read_nothing_goes(world: World) -> None:
    await job_of(world)
    archived(world, b"never accepted")
    world.pass_time(5 * DAY)
    (key,) = [key for key in world.ledger.held if key[1].startswith("n|")]
    row = world.ledger.held[key].row
    whole = {name: row[name] for name in row if name.startswith("Packed")}
    row.update(dict.fromkeys(whole, "damaged"))

    assert (await collect(world.ports)).deleted == 0
    row.update(whole)
    world.pass_time(DAY)

    assert await collect(world.ports) == Collected(renewed=1, deleted=1)


class _Forgetful:
    """The job sweeps, while an audit begins: it forgets which rows could not be read."""

    def __init__(self, world: World) -> None:
        self._world, self._job_sweeps = world, world.ports.job_sweeps

    async def get(self, sweep_id: str) -> StoredSweep | None:
        self._world.ports.troubles.forget("row")
        return await self._job_sweeps.get(sweep_id)


async def test_a_row_that_cannot_be_read_keeps_all_code_also_while_an_audit_begins(world: World) -> None:
    job = await job_of(world)
    world.policy(paused=True)
    body = {"spec": job_json(), "code": archived(world, b"y"), "sweep": {"lr": [0.1, 0.3]}, "parallel": 1}
    request = read_request(json.dumps(body).encode(), world.ports.policy.limits)
    await sweep_requested(world.ports, request, door="http", source="http:", key="k")
    (key,) = [key for key in world.ledger.held if key[1] == f"n|{job.id}"]
    world.ledger.held[key].row["State"] = "damaged"
    world.pass_time((RETENTION + 10) * DAY)
    world.use(job_sweeps=_Forgetful(world))

    assert (await collect(world.ports)).deleted == 0
    assert job.code is not None
    assert job.code.blob in world.snapshots.data


async def test_what_is_touched_after_the_list_stays(world: World) -> None:
    code = archived(world)
    world.pass_time(3 * DAY)
    listed = [one async for one in world.snapshots.listed()]
    assert await world.snapshots.touch(blob(code))

    assert not await world.snapshots.delete(listed[0].blob, listed[0].etag)
    assert await collect(world.ports) == Collected()


async def test_a_process_collects_now_and_then_and_again_after_a_failure(world: World) -> None:
    good = world.ports
    world.use(snapshots=Silent(world.clock))
    with pytest.raises(Unavailable):
        await collect_now_and_then(world.ports)
    world.ports = good
    archived(world)
    world.pass_time(3 * DAY)

    assert await collect_now_and_then(world.ports) == Collected(deleted=1)
    archived(world)
    world.pass_time(3600)
    requests = len(world.snapshots.requests)
    assert await collect_now_and_then(world.ports) == Collected()
    assert len(world.snapshots.requests) == requests


async def test_the_audit_names_an_active_job_whose_code_is_gone(world: World) -> None:
    lost, kept_job = await job_of(world, b"lost"), await job_of(world, b"kept")
    assert lost.code is not None
    del world.snapshots.data[lost.code.blob]

    report = await audit(world.ports)

    differences = [(one.kind, one.what) for one in report.differences if one.kind == "code"]
    assert differences == [("code", lost.id)]
    assert kept_job.code is not None
