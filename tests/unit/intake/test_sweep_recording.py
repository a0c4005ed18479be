"""How a sweep of jobs is recorded while other processes write, and where storage fails in between."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from shared.adapters.storage.job_sweeps import TableJobSweeps
from shared.core.errors import Misuse, Unavailable
from shared.core.job import Job, Stored
from shared.core.job_sweeps.record import JobSweep, StoredSweep
from shared.core.notify.events import Notice
from shared.intake.job_sweep import AcceptedSweep, expand
from shared.intake.message import read_request
from shared.intake.request_door import sweep_requested
from shared.jobspec import JsonObject
from tests.doubles.memory import MemoryLedger
from tests.unit.lifecycle.job_sweeps.swept import sweep_message
from tests.unit.world import World, job_json

RESOURCES = {"memory": "2G"}
COMMAND = {"commandLine": "python train.py --lr {lr} --seed {seed}"}


async def _post(world: World, **members: Any) -> AcceptedSweep:
    request = read_request(json.dumps(sweep_message(**members)).encode(), world.ports.policy.limits)
    return await sweep_requested(world.ports, request, door="http", source="http:ann", key="k")


class _Raced(TableJobSweeps):
    """The port, where other processes are quicker, once each."""

    def __init__(self, world: World) -> None:
        super().__init__(world.ledger.store)
        self.before_create: Callable[[], Awaitable[object]] | None = None
        self.before_change: Callable[[StoredSweep], Awaitable[object]] | None = None
        self.is_removed = False

    async def create(self, sweep: JobSweep, template: JsonObject) -> StoredSweep:
        before, self.before_create = self.before_create, None
        if before:
            await before()
        return await super().create(sweep, template)

    async def change(self, stored: StoredSweep, after: JobSweep) -> StoredSweep | None:
        before, self.before_change = self.before_change, None
        if before:
            await before(stored)
        return await super().change(stored, after)

    async def get(self, sweep_id: str) -> StoredSweep | None:
        return None if self.is_removed else await super().get(sweep_id)


class _Failing(MemoryLedger):
    """The ledger, which does not take one job."""

    def __init__(self, world: World, index: int) -> None:
        super().__init__(world.clock)
        self.index: int | None = index

    async def create(self, job: Job, spec: JsonObject | None, notice: Notice | None) -> Stored:
        if job.sweep is not None and job.sweep.index == self.index:
            raise Unavailable("storage does not answer")
        return await super().create(job, spec, notice)


@pytest.fixture
def raced(world: World) -> _Raced:
    sweeps = _Raced(world)
    world.use(job_sweeps=sweeps)
    return sweeps


async def test_of_two_processes_that_record_the_same_request_at_once_one_joins(
    world: World, raced: _Raced
) -> None:
    async def other() -> None:
        world.pass_time(-1)
        assert (await _post(world)).created
        world.pass_time(1)

    raced.before_create = other

    result = await _post(world)

    assert not result.created
    assert result.accepted.recorded_jobs == 4
    assert len(world.ledger.jobs) == 4


async def test_of_two_requests_with_one_key_at_once_the_later_is_refused(world: World, raced: _Raced) -> None:
    async def other() -> None:
        await _post(world, parallel=1)

    raced.before_create = other

    with pytest.raises(Misuse) as refused:
        await _post(world, parallel=2)

    assert refused.value.status == 422
    assert len(world.ledger.jobs) == 4


async def test_what_another_process_changes_while_the_jobs_are_recorded_stays(
    world: World, raced: _Raced
) -> None:
    async def other(stored: StoredSweep) -> None:
        changed = stored.sweep.model_copy(update={"labels": {"by": "another"}})
        assert await TableJobSweeps.change(raced, stored, changed)

    raced.before_change = other

    sweep = (await _post(world)).accepted

    assert (sweep.recorded_jobs, sweep.labels) == (4, {"by": "another"})
    stored = await raced.get(sweep.id)
    assert stored is not None
    assert stored.sweep == sweep


async def test_a_record_that_goes_while_its_jobs_are_recorded_is_unavailable(
    world: World, raced: _Raced
) -> None:
    async def other(stored: StoredSweep) -> None:
        await TableJobSweeps.change(raced, stored, stored.sweep)
        raced.is_removed = True

    raced.before_change = other

    with pytest.raises(Unavailable, match="is not there"):
        await _post(world)


async def test_a_template_that_is_not_there_is_unavailable(world: World, raced: _Raced) -> None:
    class Lost(_Raced):
        async def template(self, sweep_id: str) -> JsonObject | None:
            return None

    world.use(job_sweeps=Lost(world))

    with pytest.raises(Unavailable, match="template"):
        await _post(world)
    world.use(job_sweeps=raced)
    assert (await _post(world)).accepted.recorded_jobs == 4


async def test_a_key_that_others_take_again_and_again_is_unavailable(world: World) -> None:
    class OtherClaimant(_Raced):
        async def claim(self, sweep_id: str, job_id: str) -> bool:
            return False

    world.use(job_sweeps=OtherClaimant(world))

    with pytest.raises(Unavailable, match="could not be claimed"):
        await _post(world)
    assert world.ledger.jobs == []


async def test_a_job_that_storage_does_not_take_holds_up_no_other_and_is_recorded_next_time(
    world: World,
) -> None:
    ledger = _Failing(world, 0)
    world.use(ledger=ledger, job_sweeps=TableJobSweeps(ledger.store))

    with pytest.raises(Unavailable, match="does not answer"):
        await _post(world)
    assert sorted(job.sweep.index for job in ledger.jobs if job.sweep) == [1, 2, 3]

    ledger.index = None
    again = await _post(world)
    assert (again.created, again.accepted.recorded_jobs, len(ledger.jobs)) == (False, 4, 4)


async def test_a_sweep_that_is_not_there_needs_no_jobs(world: World) -> None:
    await expand(world.ports, "s_" + "a" * 24)

    assert world.ledger.jobs == []


async def test_resources_and_secrets_of_the_template_come_to_each_job(world: World) -> None:
    secret = {"name": "TOKEN", "value": "a plain text"}
    spec = job_json(customToolkitSettings=COMMAND, secrets=[secret])

    world.engine.allow = tuple(RESOURCES)
    sweep = (await _post(world, spec=spec, resources=RESOURCES)).accepted
    await world.make_pass()

    assert sweep.resources == RESOURCES
    assert len(world.engine.orders) == 4
    for order in world.engine.orders:
        assert order.resources == RESOURCES
        assert order.document["properties"]["secrets"][0]["value"] == "a plain text"


async def test_what_was_completed_is_in_the_answer(world: World) -> None:
    result = await _post(world)

    assert "cluster: filled in with the default, dev" in result.notes
