"""One change of one record: what it shows, and when it counts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shared.core.engine import Observation
from shared.core.facts import Allotted
from shared.core.job import Job, JobState
from shared.lifecycle.transition import allotted, apply, move, note
from tests.unit.lifecycle.test_meter import Counting
from tests.unit.world import World, job_json

QUOTED = "no such image https://acct.blob.core.windows.net/c?sig=canary"


@pytest.mark.parametrize("moves", [True, False])
async def test_what_a_record_quotes_of_a_cluster_holds_no_signature(world: World, moves: bool) -> None:
    stored = await world.ledger.get((await world.message(job_json())).job.id)
    assert stored is not None
    step = move(world.ports, stored, JobState.FAILED, message=QUOTED) if moves else None
    change = step or note(world.ports, stored, message=QUOTED)

    assert change.transition.after.message.startswith("no such image https://acct.blob.core.windows.net/c?")
    assert "canary" not in str(change)


async def test_only_an_end_that_was_recorded_is_counted(world: World) -> None:
    world.use(meter=(meter := Counting()))
    stored = await world.ledger.get((await world.message(job_json())).job.id)
    assert stored is not None
    meter.counts.clear()

    assert await apply(world.ports, move(world.ports, stored, JobState.SUCCEEDED)) is not None
    assert await apply(world.ports, move(world.ports, stored, JobState.FAILED)) is None

    assert meter.counts == {("slipway.jobs.ended", "succeeded", ""): 1}


async def test_anyone_who_recorded_an_event_has_time_to_deliver_it_before_a_pass_does(world: World) -> None:
    job = (await world.message({"spec": job_json(), "notify": [{"url": "https://hooks.example.com/x"}]})).job
    stored = await world.ledger.get(job.id)
    assert stored is not None

    notice = move(world.ports, stored, JobState.SUCCEEDED).notice

    assert notice is not None
    assert notice.due == world.now + timedelta(seconds=world.ports.policy.deliver_grace)


@pytest.mark.parametrize(
    ("gpus", "reported", "part"),
    [
        (2, Allotted(2, 0.25), 0.25),
        (2, Allotted(None, 0.25), 0.5),
        (2, Allotted(None, 0.75), 0.75),
        (0, Allotted(None, 0.25), 0.25),
        (2, Allotted(2, None), 0.5),
    ],
)
async def test_a_part_that_is_reported_without_the_gpus_of_a_job_is_not_less_than_before(
    world: World, gpus: int, reported: Allotted, part: float
) -> None:
    job = (await world.message(job_json())).job.model_copy(update={"gpus": gpus, "shares": True, "part": 0.5})
    changes = allotted(job, Observation(JobState.SUCCEEDED, allotted=reported))

    assert Job.model_validate(job.model_dump() | changes).part == part
