"""When a run started and ended is its scheduler's to say, not that of its record, which the job can write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.core.engine import Observation
from shared.core.job import JobState
from shared.engines.batch import translation as batch
from shared.engines.kubernetes.translation.observations import CANCELLED, Evidence, observation
from shared.engines.kubernetes.translation.silence import LOST_AFTER
from shared.engines.slurm import translation as slurm
from tests.unit.engines.kubernetes.translation.cluster import ENDED, job, mark, pod, stopped
from tests.unit.engines.slurm.test_translation import COPY

STARTED, STOPPED = datetime(2026, 11, 22, 2, 48, 40, tzinfo=UTC), datetime(2026, 11, 22, 2, 49, tzinfo=UTC)
#: "It ended well, and in the moment in which it started."
FORGED = {
    "final": True,
    "state": "ended",
    "reason": "",
    "exitCode": 0,
    "started": "2026-11-22T02:48:59Z",
    "ended": "2026-11-22T02:48:59Z",
}
#: "Nothing of it ran", in the words of a node whose code came too late.
UNSTARTED = {"final": True, "state": "ended", "reason": "infrastructure", "unstarted": True, "code": 250}
_SUSPENDED = mark("Suspended", "JobSuspended")


def _on_batch(record: dict[str, Any]) -> Observation:
    times = {"startTime": f"{STARTED:%Y-%m-%dT%H:%M:%SZ}", "endTime": f"{STOPPED:%Y-%m-%dT%H:%M:%SZ}"}
    return batch.observation({"id": "t", "state": "completed", "executionInfo": times}, record)


def _on_slurm(record: dict[str, Any]) -> Observation:
    done = frozenset({"COMPLETED"})
    copy = replace(COPY, states=done, started=STARTED.timestamp(), ended=STOPPED.timestamp())
    return slurm.observation(copy, record)


def _on_kubernetes(record: dict[str, Any]) -> Observation:
    ranks = pod("Succeeded", terminated=stopped(0))
    return observation(Evidence(job(mark("Complete")), [ranks], record), STOPPED)


def _on_kubernetes_that_hangs(record: dict[str, Any]) -> Observation:
    ranks = pod("Running", deleted=ENDED, running={"startedAt": "2026-11-22T02:48:40Z"})
    late = STOPPED + LOST_AFTER + timedelta(seconds=1)
    return observation(Evidence(job(terminating=1), [ranks], record), late)


def _cancelled_on_kubernetes(record: dict[str, Any]) -> Observation:
    cancelled = job(_SUSPENDED, annotations={CANCELLED: ENDED})
    return observation(Evidence(cancelled, (), record), STOPPED)


def _failed_on_batch(record: dict[str, Any]) -> Observation:
    times = {"startTime": f"{STARTED:%Y-%m-%dT%H:%M:%SZ}", "endTime": f"{STOPPED:%Y-%m-%dT%H:%M:%SZ}"}
    return batch.observation(
        {"id": "t", "state": "completed", "executionInfo": {**times, "exitCode": 254}}, record
    )


def _failed_on_slurm(record: dict[str, Any]) -> Observation:
    failed = replace(COPY, states=frozenset({"FAILED"}), code=254)
    return slurm.observation(replace(failed, started=STARTED.timestamp(), ended=STOPPED.timestamp()), record)


def _failed_on_kubernetes(record: dict[str, Any]) -> Observation:
    ranks = pod("Failed", terminated=stopped(254))
    return observation(Evidence(job(mark("Failed")), [ranks], record), STOPPED)


@pytest.mark.parametrize("observed", [_failed_on_batch, _failed_on_slurm, _failed_on_kubernetes])
def test_a_record_may_spare_a_retry_and_no_use(observed: Callable[[dict[str, Any]], Observation]) -> None:
    """A job that gets at the key of its record may write that none of it ran."""
    end = observed(UNSTARTED)

    assert (end.state, end.unstarted, end.used_nothing) == (JobState.FAILED, True, False)
    assert (end.started, end.ended) == (STARTED, STOPPED)


@pytest.mark.parametrize(
    "observed",
    [_on_batch, _on_slurm, _on_kubernetes, _on_kubernetes_that_hangs, _cancelled_on_kubernetes],
)
def test_a_record_does_not_say_how_long_a_job_ran(
    observed: Callable[[dict[str, Any]], Observation],
) -> None:
    end = observed(FORGED)

    assert end.state.terminal
    assert (end.started, end.ended) == (STARTED, STOPPED)
