"""Whether a job succeeded, failed or was cancelled is its scheduler's to say, not that of a record.

Where a scheduler reports nothing of an end (a node that never answers again), a proven record decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from shared.core.engine import Observation
from shared.core.job import JobState, Reason
from shared.engines.batch import translation as batch
from shared.engines.kubernetes.translation.observations import CANCELLED, Evidence, observation
from shared.engines.recorded import placed
from shared.engines.registry import ENGINES
from shared.engines.runs import UNPROVEN
from shared.engines.slurm import translation as slurm
from tests.unit.engines.kubernetes.translation.cluster import ENDED, job, mark, pod, stopped
from tests.unit.engines.slurm.test_translation import COPY
from tests.unit.engines.test_times import STARTED, STOPPED

Record = dict[str, Any] | None

_TIMES = {"startTime": f"{STARTED:%Y-%m-%dT%H:%M:%SZ}", "endTime": f"{STOPPED:%Y-%m-%dT%H:%M:%SZ}"}
_RULE = "Container main for pod default/a-0-x failed with exit code {} matching FailJob rule at index 1"


def _task(record: Record, **facts: Any) -> Observation:
    return batch.observation({"id": "t", "state": "completed", "executionInfo": {**_TIMES, **facts}}, record)


def _failure(code: str) -> dict[str, Any]:
    return {"failureInfo": {"category": "usererror", "code": code, "message": "It did not work."}}


def _slurm(record: Record, state: str, code: int = 0, signal: int = 0) -> Observation:
    ended = replace(COPY, states=frozenset({state}), code=code, signal=signal, ended=STOPPED.timestamp())
    return slurm.observation(ended, record)


def _kubernetes(record: Record, code: int) -> Observation:
    failed = mark("Failed", "PodFailurePolicy", _RULE.format(code)) if code else mark("Complete")
    ranks = pod("Failed" if code else "Succeeded", terminated=stopped(code))
    return observation(Evidence(job(failed), [ranks], record), STOPPED)


def _deleted(record: Record) -> Observation:
    """Cancelled while its processes ended."""
    failed = mark("Failed", "PodFailurePolicy", _RULE.format(143))
    late = job(failed, annotations={CANCELLED: ENDED})
    return observation(Evidence(late, [pod("Failed", terminated=stopped(143))], record), STOPPED)


#: Each way in which a scheduler reports an end: engine and end → what is observed with that record.
ENDS: dict[str, Callable[[Record], Observation]] = {
    "batch success": lambda record: _task(record, exitCode=0, result="success"),
    "batch code 3": lambda record: _task(record, exitCode=3, **_failure("FailureExitCode")),
    "batch displaced": lambda record: _task(record, exitCode=254, **_failure("FailureExitCode")),
    "batch ended": lambda record: _task(record, exitCode=143, **_failure("TaskEnded")),
    "batch too long": lambda record: _task(record, **_failure("TaskTimedOut")),
    "slurm COMPLETED": lambda record: _slurm(record, "COMPLETED"),
    "slurm code 3": lambda record: _slurm(record, "FAILED", 3),
    "slurm displaced": lambda record: _slurm(record, "FAILED", 254),
    "slurm signal": lambda record: _slurm(record, "FAILED", 0, 9),
    "slurm CANCELLED": lambda record: _slurm(record, "CANCELLED", 143),
    "slurm TIMEOUT": lambda record: _slurm(record, "TIMEOUT"),
    "slurm NODE_FAIL": lambda record: _slurm(record, "NODE_FAIL"),
    "slurm OUT_OF_MEMORY": lambda record: _slurm(record, "OUT_OF_MEMORY", 1),
    "kubernetes Complete": lambda record: _kubernetes(record, 0),
    "kubernetes code 3": lambda record: _kubernetes(record, 3),
    "kubernetes displaced": lambda record: _kubernetes(record, 254),
    "kubernetes cancelled": _deleted,
}
#: Its service has no record of ours: it says all itself.
_WITHOUT_RECORDS = {"batchai"}

_FORGED = {"final": True, "state": "ended", "ended": "2026-11-22T02:48:59Z"}
#: What a hostile job writes.
RECORDS: dict[str, dict[str, Any]] = {
    "it succeeded": {**_FORGED, "reason": "", "code": 0, "exitCode": 0},
    "it failed": {**_FORGED, "reason": "user", "code": 7, "exitCode": 7, "message": "as I say"},
    "a word of its own": {**_FORGED, "reason": "nonsense", "code": 7, "exitCode": 7},
    "it was cancelled": {**_FORGED, "reason": "terminated", "code": 143, "exitCode": None},
    "its node failed": {**_FORGED, "reason": "infrastructure", "code": 250, "exitCode": None},
    "nothing of an end": {"final": True},
    # What is left of a record that lacks its proof: `test_proofs.py` shows how one can be forged.
    "no proof": {UNPROVEN: True, "run": "7-0", "directories": {"stdouterr": "/x"}},
}


def test_each_engine_reports_ends() -> None:
    assert {end.partition(" ")[0] for end in ENDS} == ENGINES.keys() - _WITHOUT_RECORDS


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("end", ENDS)
def test_a_record_changes_no_end_that_its_scheduler_reports(end: str, record: str) -> None:
    plain, forged = ENDS[end](None), ENDS[end](RECORDS[record])

    # What failed while someone cancelled it may have failed by itself: only a record knows.
    may_fail = plain.state is JobState.CANCELLED and forged.state is JobState.FAILED
    assert forged.state is plain.state or may_fail
    assert plain.started is None or (forged.started, forged.ended) == (plain.started, plain.ended)
    assert forged.exit_code in (plain.exit_code, None) or not plain.exit_code


@pytest.mark.parametrize("end", ENDS)
def test_without_its_proof_a_record_explains_nothing_and_the_end_says_so(end: str) -> None:
    plain, forged = ENDS[end](None), ENDS[end](RECORDS["no proof"])

    shown = placed(forged, RECORDS["no proof"], "x")

    assert forged == plain
    has_failed = plain.state is not JobState.SUCCEEDED
    assert ("a record without its proof was found" in shown.message) is has_failed
    assert shown._replace(message="", segment="") == plain._replace(message="")


@pytest.mark.parametrize("end", ["batch code 3", "slurm code 3", "kubernetes code 3"])
def test_a_record_explains_a_failure(end: str) -> None:
    record = {**_FORGED, "reason": "preparation", "code": 3, "exitCode": 1, "message": "It was not prepared."}

    observed = ENDS[end](record)

    assert (observed.state, observed.reason) == (JobState.FAILED, Reason.PREPARATION)
    assert observed.message.endswith("It was not prepared.")
