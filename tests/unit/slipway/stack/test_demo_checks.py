"""The demo's verdicts: each of them can be bad."""

from typing import Any

import pytest

from slipway.stack.demo_checks import dropped, times, webhooks

NAMES = ("digits", "queued", "posted")


DOORS = {"queued": "queue", "posted": "http"}


def a_job(name: str, state: str = "succeeded") -> dict[str, Any]:
    times_of = {"startedAt": "2026-01-01T00:00:02Z", "endedAt": "2026-01-01T00:00:05.500Z"}
    return {
        "id": f"j_{name}",
        "name": name,
        "door": DOORS.get(name, "drop"),
        "state": state,
        "createdAt": "2026-01-01T00:00:00Z",
        **(times_of if state == "succeeded" else {}),
    }


JOBS = [*map(a_job, NAMES), a_job("mistakes", "rejected")]


def a_delivery(job: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "id": f"evt_{job['name']}",
        "type": f"io.slipway.job.{job['state']}.v1",
        "subject": f"jobs/{job['id']}",
        "verified": True,
        "status": 204,
        **changes,
    }


def test_four_jobs_and_their_four_webhooks_are_good() -> None:
    assert webhooks([a_delivery(job) for job in JOBS], JOBS).trouble == ""
    assert times(JOBS, peak=2).trouble == ""


def test_a_drop_whose_event_did_not_come_is_trouble() -> None:
    late = a_job("digits") | {"door": "inventory"}

    assert not dropped(late)
    assert times([late, *JOBS[1:]], 2).trouble == "1 jobs came by the event of their drop, not 2"


def test_the_table_of_the_jobs_tells_their_times() -> None:
    row = times(JOBS, peak=2).lines[1].split()

    assert row == ["digits", "drop", "succeeded", "2.0", "s", "3.5", "s"]


def test_a_webhook_that_never_came_is_trouble() -> None:
    assert webhooks([a_delivery(job) for job in JOBS[1:]], JOBS).trouble == "none came for digits"


@pytest.mark.parametrize(
    "changes", [{"verified": False, "status": 401}, {"status": 503}, {"type": "io.slipway.job.failed.v1"}]
)
def test_a_webhook_that_is_forged_refused_or_of_another_end_does_not_count(changes: dict[str, Any]) -> None:
    deliveries = [a_delivery(JOBS[0], **changes), *map(a_delivery, JOBS[1:])]

    assert webhooks(deliveries, JOBS).trouble == "none came for digits"


def test_one_wrong_signature_beside_all_right_ones_is_trouble() -> None:
    forged = a_delivery(JOBS[0], verified=False, status=401, type=None, subject=None, id=None)

    assert webhooks([*map(a_delivery, JOBS), forged], JOBS).trouble == "1 with a wrong signature"


def test_a_job_that_failed_is_named_with_its_message() -> None:
    jobs = [a_job("digits", "failed") | {"message": "exit code 3"}, *JOBS[1:]]

    assert times(jobs, peak=2).trouble == "digits is failed: exit code 3"


def test_jobs_that_all_succeeded_are_one_too_many() -> None:
    assert "1 to be rejected" in times([*JOBS[:3], a_job("mistakes")], peak=2).trouble


def test_a_cluster_that_did_not_grow_is_trouble() -> None:
    assert times(JOBS, peak=1).trouble == "the cluster grew to 1 nodes, not to 2"
