"""A job of the emulator from its queue to its end."""

from local.batchai.state.transitions import end_job, halted, start_job
from local.nodes.work import Outcome
from tests.unit.local.batchai.documents import NOW, a_job


def test_a_stopped_job_ends_for_the_first_reason_given() -> None:
    job = halted(halted(start_job(a_job(), ("n",), NOW), "timeout", NOW), "terminated", NOW)

    over = end_job(job, Outcome(exit_code=137), NOW)

    assert (over.state, over.exit_code) == ("failed", None)
    assert over.errors[0].code == "JobMaxWallClockTimeReached"


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
