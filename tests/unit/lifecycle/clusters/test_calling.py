"""One call to a cluster, what its breaker learns of it, and what is reported to no one."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from shared.admission.reason import at_first, cancelling, waiting, waits_anew, why_queued
from shared.core.engine import Observation, Why
from shared.core.errors import Busy, EngineError, Rejected, Transient, Unreadable
from shared.core.job import JobState, Waiting
from shared.core.pacing.breaker import Breaker
from shared.lifecycle.carry_out import carry_out
from shared.lifecycle.clusters.calling import calling, left_alone
from shared.lifecycle.lookup import is_known
from tests.unit.world import World, job_json


@pytest.mark.parametrize(
    ("message", "alone"),
    [(None, False), (Busy("later"), False), (Rejected("no"), False), (Transient("down"), True)],
    ids=str,
)
async def test_any_answer_ends_a_row_of_failures(
    world: World, message: EngineError | None, alone: bool
) -> None:
    world.use(breaker=Breaker(failures=2))
    for error in (Transient("down"), message, Transient("down")):
        with suppress(EngineError):
            async with calling(world.ports, "memory", "dev", 1.0):
                if error is not None:
                    raise error

    assert left_alone(world.ports, "memory", "dev") is alone


async def test_a_submission_that_is_under_way_is_not_cancelled_behind_its_back(world: World) -> None:
    world.engine.fail = [Transient("no answer")]
    stored = await world.ledger.get((await world.message(job_json())).job.id)
    assert stored is not None
    assert stored.job.state is JobState.SUBMITTING
    calls = world.engine.calls

    await carry_out(world.ports, stored)

    assert world.engine.calls == calls


async def test_a_record_that_cannot_be_read_is_a_known_one(world: World) -> None:
    class Damaged(type(world.ledger)):  # type: ignore[misc]
        async def get(self, job_id: str) -> Any:
            if job_id == "j_damaged":
                raise Unreadable("its row", "Packed")
            return await super().get(job_id)

    world.use(ledger=Damaged(world.clock))
    remote = (await world.message(job_json())).job.id

    assert [await is_known(world.ports.ledger, one) for one in (remote, "j_none", "j_damaged")] == [
        True,
        False,
        True,
    ]


# Why a job waits

PASSES, LASTS = Why("Priority", "others are before it", passes=True), Why("Resources", "no node is free")
BRIEF = Why("Resources", "no node can take it", is_brief=True)


async def test_since_when_a_job_waits_begins_anew_with_another_word(world: World) -> None:
    job = (await world.message(job_json())).job
    first = waiting(world.ports, job, Why("Priority", "others are before it"))
    job = job.model_copy(update={"waiting": first})
    begun = world.now
    world.pass_time(60)

    same = waiting(world.ports, job, Why("Priority", "two others are before it"))
    other = waiting(world.ports, job, Why("Resources", "all nodes are taken"))

    assert same is not None
    assert other is not None
    assert (same.since, same.text) == (begun, "two others are before it")
    assert other.since == world.now


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (
            JobState.SUBMITTING,
            "it was cancelled, which takes effect when the outcome of its submission is known",
        ),
        (JobState.QUEUED, "it was cancelled, and its cluster has to end it"),
        (JobState.RUNNING, "it was asked to end, and may save until 12:00:30 UTC"),
    ],
)
async def test_a_job_whose_end_was_asked_for_waits_for_that(
    world: World, state: JobState, message: str
) -> None:
    before = Waiting(word="Before", text="as before", since=world.now)
    job = (await world.message(job_json())).job.model_copy(update={"state": state, "waiting": before})

    result = cancelling(world.ports, job)

    assert result is not None
    assert result.text == message


@pytest.mark.parametrize(
    ("state", "cancel", "word"),
    [
        (JobState.QUEUED, False, "Resources"),
        (JobState.QUEUED, True, "Cancelling"),
        (JobState.RUNNING, False, "Resources"),
        (JobState.RUNNING, True, "Resources"),
    ],
)
def test_what_is_cancelled_in_its_queue_waits_for_that(
    state: JobState, cancel: bool, word: str | None
) -> None:
    result = why_queued(Observation(state, why=LASTS), cancel=cancel)
    assert (result.word if result else None) == word
    assert at_first(Observation(state, why=LASTS), cancel=cancel) == result


def test_what_passes_is_not_recorded_at_first() -> None:
    assert at_first(Observation(JobState.QUEUED, why=PASSES), cancel=False) is None


@pytest.mark.parametrize(
    ("why", "recorded", "seconds", "anew"),
    [
        (None, "", 0, False),
        (None, "something", 0, True),
        (LASTS, "", 0, True),
        (LASTS, LASTS.text, 600, False),
        (LASTS, "something", 0, True),
        (PASSES, "", 59, False),
        (PASSES, "", 60, True),
        (PASSES, "something", 0, True),
        (PASSES, PASSES.text, 600, False),
        (BRIEF, "", 0, True),
        (BRIEF, "something", 600, False),
    ],
)
async def test_a_wait_is_recorded_when_it_is_another_one_and_has_lasted(
    world: World, why: Why | None, recorded: str, seconds: float, anew: bool
) -> None:
    await world.message(job_json())
    (row,) = [row for shard in range(world.ledger.shards) for row in await world.ledger.active(shard)]
    row = row._replace(waits=recorded, since=world.now.isoformat(timespec="milliseconds"))
    now = world.now + timedelta(seconds=seconds)

    assert waits_anew(row, Observation(JobState.QUEUED, why=why), now) is anew


async def test_until_when_a_job_may_save_stays_as_it_was_recorded(world: World) -> None:
    await world.message(job_json())
    (row,) = [row for shard in range(world.ledger.shards) for row in await world.ledger.active(shard)]
    row = row._replace(waits="it was asked to end", cancel=True)

    assert not waits_anew(row, Observation(JobState.RUNNING), world.now)
    assert waits_anew(row, Observation(JobState.QUEUED), world.now)
