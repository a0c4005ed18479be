"""What one word of an engine does to one record: times, handles, reasons and sentences."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from shared.core.engine import Why
from shared.core.job import Job, JobState, Reason
from shared.core.view import whole
from shared.lifecycle import lookup
from shared.lifecycle.archive import archive
from shared.lifecycle.observe import decide
from shared.operate.ends.cancel import cancel
from tests.unit.lifecycle.test_outages import JOB
from tests.unit.world import World


async def _after(world: World, state: JobState, **how: object) -> Job:
    """The record of the only job, after a pass in which its present attempt is like that."""
    world.engine.set_state(world.engine.started[-1], state, **how)
    await world.make_pass()
    return world.ledger.jobs[0]


async def _seen_nowhere(world: World) -> Job:
    await world.make_pass()
    return world.ledger.jobs[0]


async def test_a_job_that_its_cluster_requeued_has_not_begun(world: World) -> None:
    await world.message(JOB)
    assert (await _after(world, JobState.RUNNING, started=world.now)).started is not None
    assert (await _after(world, JobState.QUEUED)).started is None


async def test_a_job_that_was_requeued_and_started_again_between_two_looks_has_both_runs(
    world: World,
) -> None:
    await world.message(JOB)
    first = await _after(world, JobState.RUNNING, started=world.now)
    again = world.now + timedelta(seconds=30)

    between = await _after(world, JobState.RUNNING, started=again)
    after = await _after(world, JobState.RUNNING, started=again)

    assert [entry.state for entry in after.history[len(first.history) :]] == [
        JobState.QUEUED,
        JobState.RUNNING,
    ]
    assert (between.started, after.started) == (None, again)
    assert (
        between.history[-1].note == "the cluster put it back into its queue, and starts it from its beginning"
    )


@pytest.mark.parametrize("ahead", [0, 600])
@pytest.mark.parametrize("seconds", [-3600, 0, 2])
async def test_two_words_about_one_start_are_no_second_run(world: World, seconds: int, ahead: int) -> None:
    """Also where the cluster's clock is ahead, so that every look asks whether it began again."""
    await world.message(JOB)
    start = world.now + timedelta(seconds=ahead)
    first = await _after(world, JobState.RUNNING, started=start)

    after = await _after(world, JobState.RUNNING, started=start + timedelta(seconds=seconds))

    assert after == first


async def test_another_attempt_has_no_handle_and_no_segment_of_the_one_before(world: World) -> None:
    await world.message(JOB)
    await _after(world, JobState.RUNNING, handle="17", segment="a")
    after = await _after(world, JobState.FAILED, reason=Reason.PREEMPTED)
    assert (after.state, after.handle, after.segment) == (JobState.ACCEPTED, "", "")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("", "the cluster put it back into its queue, and starts it from its beginning"),
        ("a node was drained", "a node was drained"),
    ],
)
async def test_a_job_that_its_cluster_requeued_keeps_its_handle_and_says_why(
    world: World, message: str, text: str
) -> None:
    await world.message(JOB)
    await _after(world, JobState.RUNNING, handle="17", segment="a")
    after = await _after(world, JobState.QUEUED, message=message)
    assert (after.handle, after.segment, after.message) == ("17", "a", text)


async def test_a_handle_changes_only_where_the_cluster_names_another_one_and_the_segment_with_it(
    world: World,
) -> None:
    await world.message(JOB)
    first = await _after(world, JobState.RUNNING, handle="17", segment="a")
    assert (first.handle, first.segment) == ("17", "a")
    output = []
    for handle, segment in (("", "b"), ("18", "b"), ("19", "")):  # seen again after a look that found nothing
        name, observation = world.engine.jobs.popitem()
        assert (await _seen_nowhere(world)).misses == 1
        world.engine.jobs[name] = observation
        job = await _after(world, JobState.RUNNING, handle=handle, segment=segment)
        output.append((job.handle, job.segment))
        world.pass_time(3600)

    assert output == [("17", "a"), ("18", "b"), ("19", "b")]


@pytest.mark.parametrize("while_running", [{"handle": "16", "segment": "a"}, {}])
@pytest.mark.parametrize("at_end", [{"handle": "17", "segment": "b"}, {}])
async def test_an_end_has_the_handle_and_the_segment_that_the_cluster_named_last(
    world: World, while_running: dict[str, str], at_end: dict[str, str]
) -> None:
    await world.message(JOB)
    await _after(world, JobState.RUNNING, **while_running)

    ended = await _after(world, JobState.SUCCEEDED, **at_end)

    assert {"handle": ended.handle, "segment": ended.segment} == (
        at_end or while_running or {"handle": "", "segment": ""}
    )


async def test_a_handle_may_be_any_text_and_is_kept_as_it_is_beyond_the_archive(world: World) -> None:
    handle = json.dumps({"job": "uid-1", "service": "a/b|c", "pods": ["é"]})
    await world.message(JOB)
    await _after(world, JobState.RUNNING, handle=handle)
    ended = await _after(world, JobState.SUCCEEDED)
    world.pass_time(31 * 86_400)
    assert (await archive(world.ports)).jobs == 1

    stored = await lookup.job(world.ports, ended.id)
    assert whole(stored.job)["engine"]["id"] == handle


async def test_what_the_record_has_already_is_no_change(world: World) -> None:
    await world.message(JOB)
    job = await _after(world, JobState.RUNNING, handle="17")
    stored = await world.ledger.get(job.id)
    assert stored is not None

    assert await decide(world.ports, stored, world.engine.jobs[world.engine.started[0]]) is None


async def test_attempts_that_the_cluster_did_not_start_are_counted_apart_from_those_that_cost_a_retry(
    world: World,
) -> None:
    await world.message({**JOB, "retry": {"infrastructure": 3, "user": 1}})
    unstarted = {"unstarted": True, "reason": Reason.INFRASTRUCTURE, "message": "no boot"}
    lost = {"reason": Reason.INFRASTRUCTURE, "message": "node lost"}

    output = []
    for how in (unstarted, lost, {"reason": Reason.USER, "message": "exit code 1"}, unstarted):
        output.append((await _after(world, JobState.FAILED, **how)).message)
        await world.make_pass(3600)

    assert output == [
        "attempt 1 was not started by the cluster (which costs no retry): no boot",
        "attempt 2 failed: node lost",
        "attempt 3 failed: exit code 1",
        "attempt 4 was not started by the cluster (2 by now, which cost no retry): no boot",
    ]


async def test_each_attempt_counts_for_as_long_as_its_cluster_says_that_it_ran(world: World) -> None:
    await world.message({**JOB, "retry": {"infrastructure": 3}})
    start = world.now
    await _after(world, JobState.RUNNING, started=start)
    world.pass_time(7200)
    lost = {"reason": Reason.INFRASTRUCTURE, "started": start, "ended": start + timedelta(hours=1)}
    assert (await _after(world, JobState.FAILED, **lost)).ran_before == 3600

    await world.make_pass(3600)
    start = world.now
    unseen = {"reason": Reason.INFRASTRUCTURE, "started": start, "ended": start + timedelta(minutes=1)}
    assert (await _after(world, JobState.FAILED, **unseen)).ran_before == 3660

    await world.make_pass(3600)
    assert (await _after(world, JobState.FAILED, **unseen, unstarted=True)).ran_before == 3660


async def test_an_attempt_that_only_says_that_nothing_of_it_ran_is_free_and_counts_its_time(
    world: World,
) -> None:
    """A job may have its node say so, for as long as it likes, before its code is there."""
    await world.message({**JOB, "retry": {"infrastructure": 1}})
    says_so = {"reason": Reason.INFRASTRUCTURE, "unstarted": True, "had_nodes": True}
    for number in (1, 2, 3):
        start = world.now
        world.pass_time(3600)
        after = await _after(world, JobState.FAILED, started=start, ended=world.now, **says_so)
        assert (after.state, after.spent.infrastructure, after.ran_before) == (
            JobState.ACCEPTED,
            0,
            number * 3600,
        )
        await world.make_pass(3600)

    start = world.now
    end = start + timedelta(minutes=1)
    world.pass_time(60)
    await cancel(world.ports, after.id)
    after = await _after(world, JobState.FAILED, started=start, ended=end, **says_so)

    assert (after.state, after.started, after.ended) == (JobState.CANCELLED, start, end)


async def test_a_job_that_was_cancelled_before_the_cluster_started_it_has_no_start(world: World) -> None:
    job = (await world.message(JOB)).job
    await cancel(world.ports, job.id)

    after = await _after(world, JobState.FAILED, unstarted=True, started=world.now)

    assert (after.state, after.reason, after.started) == (JobState.CANCELLED, Reason.TERMINATED, None)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("", "cancelled on the cluster and not here: by its administrator, or by hand"),
        ("by root", "cancelled on the cluster and not here: by its administrator, or by hand (by root)"),
    ],
)
async def test_a_cancellation_from_elsewhere_says_so(world: World, message: str, text: str) -> None:
    await world.message(JOB)
    assert (await _after(world, JobState.CANCELLED, message=message)).message == text


async def test_a_job_waits_for_what_its_cluster_names_and_for_nothing_else(world: World) -> None:
    await world.message(JOB)
    why = Why("Resources", "no node is free")

    waits = (await _after(world, JobState.QUEUED, why=why)).waiting
    assert waits is not None
    assert waits.word == "Resources"
    assert (await _after(world, JobState.RUNNING)).waiting is None
    world.pass_time(timedelta(hours=1).total_seconds())
    assert (await _after(world, JobState.RUNNING)).waiting is None

    removed = world.engine.jobs.popitem()
    assert (await _seen_nowhere(world)).misses == 1
    world.engine.jobs[removed[0]] = removed[1]
    result = await _after(world, JobState.RUNNING)
    assert (result.misses, result.waiting) == (0, None)
