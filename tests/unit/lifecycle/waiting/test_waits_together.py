"""Several reasons of one wait, what is to be cancelled, and what health says of clusters that refuse."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from unittest.mock import AsyncMock

import pytest

from shared.admission.pauses import pause, resume
from shared.core.engine import Why
from shared.core.errors import EngineError, Misconfigured, NotFound, Transient
from shared.core.job import JobState
from shared.core.view import whole
from shared.operate.ends.cancel import cancel
from shared.operate.ready import ready
from tests.unit.dropped_folder import drop_folder, status_line_of
from tests.unit.lifecycle.test_outages import JOB
from tests.unit.lifecycle.waiting.test_waits import BUSY, PARTITION_DOWN, TOO_LARGE, shown, wait_for
from tests.unit.world import CLUSTER, Engines, World


@pytest.mark.parametrize(
    "too_large",
    [TOO_LARGE, Why("TooManyNodes", "there is one node only", never=True), replace(TOO_LARGE, never=False)],
    ids=["as engines say it", "in other words", "as an older version recorded it"],
)
async def test_a_silent_cluster_does_not_hide_that_a_job_can_never_start_or_what_it_waited_for(
    world: World, too_large: Why
) -> None:
    never, down = (await world.message(JOB, "1")).job, (await world.message(JOB, "2")).job
    for name, why in zip(world.engine.started, (too_large, PARTITION_DOWN), strict=True):
        world.engine.set_state(name, JobState.QUEUED, why=why)
    await world.make_pass()
    first = await shown(world, never)
    world.engine.down = True
    await world.make_pass()
    world.pass_time(11)

    silent = "the cluster dev cannot be queried: no answer"
    assert await shown(world, never) == {**first, "text": f"{too_large.text}; {silent}"}
    waits = await shown(world, down)
    assert (waits["word"], waits["text"]) == (
        "ClusterSilent",
        f"{silent}; when it was last queried: its partition is down",
    )


async def test_a_silent_cluster_does_not_hide_a_pause_nor_what_our_own_limits_say(world: World) -> None:
    world.policy(max_active_jobs=1)
    await world.message(JOB, "first")
    crowded = (await world.message(JOB, "second")).job
    world.engine.down = True
    await world.make_pass()
    await pause(world.ports, "ann", "")
    world.pass_time(11)

    assert (await shown(world, crowded))["text"].split("; ") == [
        "the cluster dev cannot be queried: no answer",
        "waits: submissions are paused by ann",
        "waits for its turn: the limit on active jobs (1) is reached",
    ]


async def test_a_job_is_not_said_to_wait_for_a_pause_that_is_over(world: World) -> None:
    await pause(world.ports, "ann", "")
    job = (await world.message(JOB)).job
    assert (await shown(world, job))["word"] == "Paused"
    await resume(world.ports, "ann")
    assert await shown(world, job) == {}


async def test_a_job_waits_for_the_setting_that_pauses_submissions(world: World) -> None:
    world.policy(paused=True)
    job = (await world.message(JOB)).job

    assert await shown(world, job) == {
        "word": "Paused",
        "text": "waits: submissions are paused by the setting SLIPWAY_PAUSED",
        "since": world.now.isoformat().replace("+00:00", "Z"),
    }


@pytest.mark.parametrize("error", [Misconfigured("403 no"), Transient("no answer")])
async def test_a_submission_that_waits_is_not_said_to_be_repeated_during_a_pause_alone(
    world: World, error: EngineError
) -> None:
    world.engine.fail = [error]
    job = (await world.message(JOB)).job
    await pause(world.ports, "ann", "")
    assert "submissions are paused by ann" in (await shown(world, job))["text"]


async def test_a_parked_job_tells_its_time_once(world: World) -> None:
    world.engine.fail = [Misconfigured("no key")]
    job = (await world.message(JOB)).job
    waits = await shown(world, job)
    assert waits["text"] == "waits for the deployment to be mended: no key"
    assert waits["since"] == world.now.isoformat().replace("+00:00", "Z")


# What is to be cancelled


@pytest.mark.parametrize("why", [None, PARTITION_DOWN, BUSY])
async def test_a_queued_job_that_is_to_be_cancelled_waits_for_its_end_and_for_nothing_else(
    world: World, why: Why | None
) -> None:
    job = (await world.message(JOB)).job
    wait_for(world, why)
    await world.make_pass(61)
    world.engine.down = True
    reports = whole((await cancel(world.ports, job.id)).job)["waiting"]
    world.engine.down = False
    assert reports["word"] == "Cancelling"

    world.engine.cancel = AsyncMock()  # type: ignore[method-assign]  # it takes its time
    assert [(await world.make_pass(61)).changed for _ in range(3)] == [0, 0, 0]
    assert await shown(world, job) == reports


async def test_a_job_that_is_to_be_cancelled_while_it_is_submitted_says_so(world: World) -> None:
    world.engine.fail = [Transient("broken pipe")]
    job = (await world.message(JOB)).job
    assert whole((await cancel(world.ports, job.id)).job)["waiting"]["word"] == "Cancelling"
    world.engine.down = True
    await world.make_pass(700)
    waits = (await world.job(job.id)).waiting
    assert waits is not None
    assert waits.text.endswith("the call is repeated with the same name, and the job is cancelled then")


async def test_a_running_job_that_is_to_be_cancelled_says_until_when_it_may_save(world: World) -> None:
    job = (await world.message(JOB)).job
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    world.engine.down = True
    reports = whole((await cancel(world.ports, job.id)).job)["waiting"]
    until = world.now + timedelta(seconds=world.engine.ending("any"))
    assert reports["word"] == "Saving"
    assert reports["text"] == f"it was asked to end, and may save until {until:%H:%M:%S} UTC"


# Receipts


async def test_the_receipt_of_a_drop_has_its_state_what_it_waits_for_and_the_clusters_name_of_it(
    world: World,
) -> None:
    job = await drop_folder(world)
    assert (world.receipt(job)["state"], "waiting" in world.receipt(job)) == ("queued", False)
    name = world.engine.started[0]
    world.engine.set_state(name, JobState.QUEUED, why=PARTITION_DOWN)
    await world.make_pass()
    assert world.receipt(job)["waiting"]["word"] == "PartitionDown"
    world.engine.set_state(name, JobState.RUNNING, handle="17")
    await world.make_pass()
    reports = world.receipt(job)
    assert (reports["state"], reports["engine"]["id"], "waiting" in reports) == ("running", "17", False)
    assert reports["accepted"]


async def test_a_receipt_is_written_only_when_its_line_changes(world: World) -> None:
    await drop_folder(world)
    written = len(world.drops.written)
    wait_for(world, PARTITION_DOWN)
    for _ in range(4):
        await world.make_pass()
    assert [name.rpartition("/")[2] for name, _ in world.drops.written[written:]] == [
        "receipt.json",
        "STATUS",
    ]


async def test_what_a_cancel_changes_is_in_receipt_and_status_after_the_next_sweep(world: World) -> None:
    job = await drop_folder(world)
    world.engine.cancel = AsyncMock()  # type: ignore[method-assign]
    await cancel(world.ports, job.id)
    await world.make_pass()
    assert world.receipt(job)["waiting"]["word"] == "Cancelling"
    assert "it was cancelled" in status_line_of(world, job)


# Health


@pytest.mark.parametrize(
    ("first", "second", "clusters"),
    [
        (None, None, {"ok": 2}),
        (NotFound("404 there is none"), None, {"ok": 1, "misconfigured": 1}),
        (None, Misconfigured("403 Forbidden"), {"ok": 1, "misconfigured": 1}),
        (NotFound("404 there is none"), Transient("no answer"), {"misconfigured": 1, "does not answer": 1}),
    ],
)
async def test_health_tells_clusters_that_refuse_from_silent_ones_and_the_app_stays_ready(
    world: World, first: EngineError | None, second: EngineError | None, clusters: dict[str, int]
) -> None:
    world.use(engines=Engines(world.engine, {name: replace(CLUSTER, name=name) for name in ("a", "b")}))
    world.engine.fail = [first, second]
    readiness = await ready(world.ports)
    assert (readiness.ready, dict(readiness.clusters)) == (True, clusters)
    assert readiness.settings_wrong is any(
        isinstance(one, Misconfigured | NotFound) for one in (first, second)
    )
