"""A job of the emulator from its queue to its end."""

import pytest

from local.batchai.state.models import Stop
from local.batchai.state.transitions import FAULTS, end_job, halted, start_job
from local.nodes.fault import Fault
from local.nodes.work import Outcome, stopped
from tests.unit.local.batchai.documents import NOW, a_job


def test_a_stopped_job_ends_for_the_first_reason_given() -> None:
    job = halted(halted(start_job(a_job(), ("n",), NOW), "timeout", NOW), "terminated", NOW)

    over = end_job(job, Outcome(exit_code=137), NOW)

    assert (over.state, over.exit_code) == ("failed", 137)
    assert over.errors[0].code == "JobMaxWallClockTimeReached"


_USERS = ("terminated", "deleted")
_FAULT = Fault(code="X", message="y")
#: How a run ends that is stopped: before its first process, after it, as it ended by itself, and lost.
_RUNS = [
    (stopped(_FAULT, has_begun=False), 127),
    (stopped(_FAULT, has_begun=True), 143),
    (Outcome(exit_code=3), 3),
    (Outcome(exit_code=0), 143),
    (Outcome(requeue=True), 143),
]


@pytest.mark.parametrize("reason", sorted(FAULTS))
def test_only_an_end_of_its_user_s_own_making_is_without_an_exit_code(reason: Stop) -> None:
    waiting = halted(a_job(), reason, NOW)
    ran = [
        (end_job(halted(start_job(a_job(), ("n",), NOW), reason, NOW), outcome, NOW), code)
        for outcome, code in _RUNS
    ]

    assert waiting.exit_code == (None if reason in _USERS else 127)
    for over, code in ran:
        assert (over.state, over.errors) == ("failed", (FAULTS[reason],))
        assert over.exit_code == (None if reason in _USERS else code)


def test_what_is_stopped_before_its_first_process_says_why_unless_it_runs_again() -> None:
    assert stopped(_FAULT, has_begun=False).reason == "X: y"
    assert stopped(None, has_begun=False).reason == stopped(_FAULT, has_begun=True).reason == ""


def test_a_run_that_was_stopped_to_run_again_does() -> None:
    for begun in (False, True):
        job = halted(start_job(a_job(), ("n",), NOW), "requeue", NOW)

        assert end_job(job, stopped(None, has_begun=begun), NOW).state == "queued"


def test_a_lost_run_goes_back_to_the_queue_as_another_attempt() -> None:
    job = end_job(start_job(a_job(), ("n",), NOW), Outcome(requeue=True), NOW)

    assert (job.state, job.attempt, job.nodes, job.started) == ("queued", 1, (), None)


def test_a_job_that_is_lost_again_and_again_fails() -> None:
    job = a_job()
    while job.active:
        assert job.attempt < 10
        job = end_job(start_job(job, ("n",), NOW), Outcome(requeue=True), NOW)

    assert job.errors[0].code == "NodeFailed"


def test_a_job_that_finished_while_it_was_asked_to_requeue_stays_finished() -> None:
    job = halted(start_job(a_job(), ("n",), NOW), "requeue", NOW)

    assert end_job(job, Outcome(exit_code=0), NOW).state == "succeeded"
