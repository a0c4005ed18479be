"""Why a job waits: recorded when that changes, shown wherever someone looks, and gone when it runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.admission.pauses import pause
from shared.core.engine import NEVER, Why
from shared.core.errors import EngineError, Misconfigured, Transient
from shared.core.job import Job, JobState, Reason, Waiting
from shared.core.ledger.entries import Change, packed, unpacked
from shared.core.view import summary, whole
from shared.intake.accept import Accepted
from shared.operate.common_waits import as_they_stand
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.dropped_folder import drop_folder, status_line_of
from tests.unit.lifecycle.test_outages import JOB
from tests.unit.world import World, job_json

PARTITION_DOWN = Why("PartitionDown", "its partition is down")
TOO_LARGE = Why("TooManyNodes", f"{NEVER}: the job asks for 2 nodes", never=True)
PUT_BACK = "the cluster put it back into its queue, and starts it from its beginning"
BUSY = Why("Resources", "the nodes that it needs are busy", passes=True)


def wait_for(world: World, why: Why | None) -> None:
    world.engine.set_state(world.engine.started[-1], JobState.QUEUED, why=why)


async def shown(world: World, job: Job) -> dict[str, Any]:
    (only,) = await as_they_stand(world.ports, [await world.job(job.id)])
    reports: dict[str, Any] = summary(only).get("waiting", {})
    return reports


async def test_a_job_says_what_it_waits_for_and_since_when(world: World) -> None:
    job = (await world.message(JOB)).job
    wait_for(world, PARTITION_DOWN)
    await world.make_pass()

    at = world.now.isoformat().replace("+00:00", "Z")
    assert await shown(world, job) == {"word": "PartitionDown", "text": "its partition is down", "since": at}
    assert whole(await world.job(job.id))["history"][-1]["note"] == "its partition is down"


async def test_a_wait_is_written_once_and_again_only_when_it_is_another(world: World) -> None:
    job = (await world.message(JOB)).job
    wait_for(world, PARTITION_DOWN)
    changed = [(await world.make_pass()).changed for _ in range(4)]
    since = (await world.job(job.id)).waiting
    wait_for(world, Why("JobHeldAdmin", "held"))
    changed += [(await world.make_pass()).changed for _ in range(3)]
    wait_for(world, None)
    changed += [(await world.make_pass()).changed for _ in range(3)]

    assert changed == [1, 0, 0, 0, 1, 0, 0, 1, 0, 0]
    assert since is not None
    assert (await world.job(job.id)).waiting is None


async def test_a_wait_for_a_quota_is_logged_once_for_the_alert(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """A scheduler may take the job and have no machine for it: no submission fails then."""
    job = (await world.message(JOB)).job
    for text in ("0 cores", "0 cores of 4"):
        wait_for(world, Why("Quota", text, lacks_capacity=True))
        await world.make_pass()

    lines = [line for line in caplog.records if vars(line).get("action") == "saturated"]
    assert [vars(line)["job"] for line in lines] == [job.id]
    assert "0 cores" in lines[0].getMessage()


async def test_since_stays_while_only_the_sentence_changes(world: World) -> None:
    job = (await world.message(JOB)).job
    wait_for(world, Why("TooManyNodes", "at most 2"))
    await world.make_pass()
    first = (await world.job(job.id)).waiting
    wait_for(world, Why("TooManyNodes", "at most 1"))
    await world.make_pass()

    second = (await world.job(job.id)).waiting
    assert first is not None
    assert second == first.model_copy(update={"text": "at most 1"})


async def test_a_wait_that_passes_is_recorded_only_when_it_lasts(world: World) -> None:
    await world.message(JOB)
    wait_for(world, BUSY)
    assert [(await world.make_pass(20)).changed for _ in range(5)] == [0, 0, 1, 0, 0]


async def test_a_job_that_is_put_back_says_so_and_nothing_that_passes(world: World) -> None:
    job = (await world.message(JOB)).job
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    wait_for(world, BUSY)
    await world.make_pass()
    back = await world.job(job.id)
    assert (back.state, back.waiting, back.message) == (JobState.QUEUED, None, PUT_BACK)

    await world.make_pass(61)
    assert (await shown(world, job))["word"] == "Resources"


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.SUCCEEDED, JobState.CANCELLED])
async def test_a_job_that_goes_on_waits_for_nothing(world: World, state: JobState) -> None:
    job = (await world.message(JOB)).job
    wait_for(world, PARTITION_DOWN)
    await world.make_pass()
    world.engine.set_state(world.engine.started[0], state)
    await world.make_pass()

    after = await world.job(job.id)
    assert (after.state, after.waiting) == (state, None)
    assert "waiting" not in summary(after)


async def test_a_job_that_does_nothing_while_it_runs_says_so_until_it_goes_on(world: World) -> None:
    job = (await world.message(job_json())).job
    name, why = world.engine.started[0], Why("Suspended", "suspended on the cluster")
    for reason in (None, why, None):
        world.engine.set_state(name, JobState.RUNNING, why=reason)
        await world.make_pass()
        waits = (await world.job(job.id)).waiting
        assert (waits and waits.text) == (reason and reason.text)


async def test_a_wait_that_an_older_version_left_on_a_running_job_is_cleared_once(world: World) -> None:
    job = (await world.message(JOB)).job
    wait_for(world, PARTITION_DOWN)
    await world.make_pass()
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    waits = Waiting(word="PartitionDown", text="its partition is down", since=world.now)
    stored = await world.ledger.get(job.id)
    assert stored is not None
    older = stored.job.move(JobState.RUNNING, now=world.now, token="older", waiting=waits)
    await world.ledger.commit([Change(stored, older)])

    assert [(await world.make_pass()).changed for _ in range(2)] == [1, 0]
    assert (await world.job(job.id)).waiting is None


async def test_a_record_without_the_field_is_read_and_one_with_more_is_kept(world: World) -> None:
    job = (await world.message(JOB)).job
    text = json.loads(job.model_dump_json(exclude_defaults=True))
    assert {"waiting", "handle"}.isdisjoint(text)
    assert unpacked(packed(job)) == job

    newer = Waiting.model_validate({"word": "w", "text": "t", "since": world.now, "more": 1})
    copy = unpacked(packed(job.model_copy(update={"waiting": newer})))
    assert copy.waiting is not None
    assert copy.waiting.model_dump()["more"] == 1


async def test_status_says_what_a_drop_waits_for_until_it_runs(world: World) -> None:
    job = await drop_folder(world)
    wait_for(world, PARTITION_DOWN)
    since = (await world.job(job.id)).stage.at.isoformat().replace("+00:00", "Z")
    await world.make_pass()
    assert status_line_of(world, job) == f"queued {since} {job.id}: its partition is down\n"
    written = len(world.drops.written)
    await world.make_pass()
    assert len(world.drops.written) == written

    wait_for(world, None)
    await world.make_pass()
    assert status_line_of(world, job) == f"queued {since} {job.id}\n"
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    assert status_line_of(world, job).endswith(f" {job.id}\n")


async def test_what_a_cluster_quotes_is_printable_and_bounded_and_holds_no_signature(world: World) -> None:
    job = (await world.message(JOB)).job
    address = "https://acct.blob.core.windows.net/c/b?sv=2020-01-01&sig=c2VjcmV0LXNpZ25hdHVyZQ%3D%3D"
    wait_for(world, Why("x\x1b[0m" * 50, f"no\x07{address} " + "a" * 900))
    await world.make_pass()

    reports = await shown(world, job)
    assert "c2VjcmV0" not in json.dumps(reports)
    assert reports["word"].isprintable()
    assert reports["text"].isprintable()
    assert len(reports["word"]) <= 60 < len(reports["text"]) <= 240
    assert [(await world.make_pass()).changed for _ in range(2)] == [0, 0]


# What is known at the door


class _Small(MemoryEngine):
    """Its cluster has one node, and it says so when it takes a job."""

    async def submit(self, order: Any) -> Any:
        await super().submit(order)
        name = order.target.name
        self.set_state(name, JobState.QUEUED, why=TOO_LARGE, handle="17")
        return self.jobs[name]


async def _at_the_door(world: World) -> Accepted:
    world.engine = _Small()
    world.use(engines=type(world.ports.engines)(world.engine))  # type: ignore[call-arg]
    return await world.message(JOB)


async def test_a_job_that_can_never_start_is_accepted_with_a_warning_that_stays(world: World) -> None:
    accepted = await _at_the_door(world)

    assert f"warning: {NEVER}: the job asks for 2 nodes" in accepted.notes
    assert accepted.job.waiting is not None
    assert accepted.job.waiting.word == "TooManyNodes"
    assert [(await world.make_pass()).changed for _ in range(2)] == [0, 0]
    assert (await shown(world, accepted.job))["word"] == "TooManyNodes"


async def test_the_clusters_own_name_of_an_attempt_is_shown_and_goes_with_the_attempt(world: World) -> None:
    job = (await _at_the_door(world)).job
    assert whole(job)["engine"]["id"] == "17"
    world.policy(receipts=True)
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.USER)
    await world.make_pass()
    assert world.receipt(job)["engine"]["id"] == "17"


async def test_the_clusters_own_name_is_that_of_the_last_submission(world: World) -> None:
    job = (await _at_the_door(world)).job
    backup = dict(world.engine.jobs)
    world.engine.jobs.clear()
    await world.make_pass()  # a miss
    world.engine.jobs.update(backup)
    world.engine.set_state(world.engine.started[0], JobState.QUEUED, why=TOO_LARGE, handle="18")
    assert [(await world.make_pass()).changed for _ in range(3)] == [1, 0, 0]
    assert whole(await world.job(job.id))["engine"]["id"] == "18"


# Our own waits


async def test_a_job_that_waits_for_the_switch_says_so_and_one_that_came_before_it_too(world: World) -> None:
    world.policy(max_active_jobs=1)
    await world.message(JOB, "first")
    crowded = (await world.message(JOB, "second")).job
    assert (await shown(world, crowded))["word"] == "ActiveLimit"

    await pause(world.ports, "ann", "maintenance")
    waits = await shown(world, crowded)
    assert waits["word"] == "Paused"
    assert waits["text"].startswith("waits: submissions are paused by ann (maintenance); waits for its turn")
    assert (await shown(world, (await world.message(JOB, "third")).job))["word"] == "Paused"


@pytest.mark.parametrize(
    ("error", "word"), [(Misconfigured("no key"), "Parked"), (Transient("broken pipe"), "NoAnswer")]
)
async def test_a_submission_that_failed_says_what_it_waits_for(
    world: World, error: EngineError, word: str
) -> None:
    world.engine.fail = [error]
    job = (await world.message(JOB)).job
    first = (await world.job(job.id)).waiting
    assert first is not None
    assert first.word == word
    world.engine.fail = [error]
    await world.make_pass(700)
    assert (await world.job(job.id)).waiting.since == first.since  # type: ignore[union-attr]

    await world.make_pass(1300)
    assert (await world.job(job.id)).waiting is None


async def test_an_attempt_that_comes_later_says_when(world: World) -> None:
    job = (await world.message({**JOB, "retry": {"infrastructure": 1}})).job
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.INFRASTRUCTURE)
    await world.make_pass()
    waits = await shown(world, job)
    assert (waits["word"], waits["text"][:13]) == ("NewAttempt", "attempt 2 is ")
    assert waits["text"].endswith(": attempt 1 failed: infrastructure")


async def test_a_cluster_that_is_not_configured_any_more_is_named(world: World) -> None:
    world.policy(max_active_jobs=1)
    await world.message(JOB, "first")
    job = (await world.message(JOB, "second")).job
    world.use(engines=type(world.ports.engines)(world.engine, {}))  # type: ignore[call-arg]
    assert (await shown(world, job))["word"] == "ClusterNotConfigured"


# A cluster that does not answer


async def test_each_job_of_a_cluster_that_does_not_answer_says_since_when_at_no_write(world: World) -> None:
    jobs = [(await world.message(JOB, f"m{n}")).job for n in range(3)]
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    world.engine.down = True
    before = [await world.job(job.id) for job in jobs]
    await world.make_pass()
    since = world.now.isoformat().replace("+00:00", "Z")
    for _ in range(5):
        await world.make_pass()

    assert [await world.job(job.id) for job in jobs] == before
    for job in jobs:
        waits = await shown(world, job)
        assert waits["word"] == "ClusterSilent"
        assert waits["text"] == "the cluster dev cannot be queried: no answer"
        assert waits["since"] == since

    world.engine.down = False
    await world.make_pass(60)
    await world.make_pass(60)
    world.pass_time(11)
    assert await shown(world, jobs[0]) == {}


async def test_a_cluster_that_is_not_asked_any_more_is_not_silent_for_ever(world: World) -> None:
    job = (await world.message(JOB)).job
    world.engine.down = True
    await world.make_pass()
    assert (await shown(world, job))["word"] == "ClusterSilent"
    world.pass_time(600)
    assert await shown(world, job) == {}


async def test_of_jobs_that_have_ended_nothing_is_asked(world: World) -> None:
    job = (await world.message(JOB)).job
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    world.use(ledger=None)
    ended = job.model_copy(update={"state": JobState.SUCCEEDED})
    assert await as_they_stand(world.ports, [ended]) == (ended,)
