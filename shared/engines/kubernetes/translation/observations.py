"""The current observation of one attempt, from its Job, pods and record. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from shared.core.engine import Observation, Why
from shared.core.job import JobState, Reason
from shared.engines import untrusted
from shared.engines.kubernetes.translation.conditions import condition
from shared.engines.kubernetes.translation.ends import ended, ranks_of
from shared.engines.kubernetes.translation.silence import (
    GIVEN_UP,
    LOST_AFTER,
    WHY,
    ending_since,
    has_others,
    leaves,
    silence,
    was_given_up,
)
from shared.engines.recorded import recorded

_S, _R = JobState, Reason

#: The annotation of a cancelled Job, which stays, and so does its name.
CANCELLED = "slipway/cancelled"
_LOST = "its node does not answer any more, and Kubernetes cannot tell whether it still runs"


@dataclass(frozen=True)
class Evidence:
    """Everything that was read of one attempt."""

    job: Mapping[str, Any]
    pods: Sequence[Mapping[str, Any]] = ()
    record: Mapping[str, Any] | None = None
    #: whether a record of it would have been found
    is_seen: bool = False
    #: why it waits, from other objects than its pods
    why: Why | None = None
    #: whether nothing starts it again, if it was cancelled or given up
    is_held: bool = True


def observation(evidence: Evidence, now: datetime, lost_after: timedelta = LOST_AFTER) -> Observation:
    """The observation from all evidence."""
    record, since = evidence.record, ending_since(evidence.job, evidence.pods)
    is_final = record is not None and bool(record.get("final"))
    end = ended(evidence.job, evidence.pods, record, is_seen=evidence.is_seen)
    if end is not None:
        return _cancelled(evidence.job) if _was_ended_by_us(evidence, end) else end
    has_hung = is_lost(evidence, now, lost_after) and not has_others(evidence.pods, now, lost_after)
    if has_hung and evidence.is_held:
        return _hanging(evidence, since or _given_up_at(evidence.job) or now)
    if evidence.is_held and was_cancelled(evidence.job) and not _has_pods(evidence):
        # Such a Job never completes by itself: it is suspended, or wants no pods.
        own_end = recorded(record) if record is not None and is_final else None
        if own_end is not None and not _was_ended_by_us(evidence, own_end):
            # Its pods are gone with their times; those of a record are the job's own.
            return own_end._replace(started=_started(evidence), ended=_cancelled_at(evidence.job))
        return _cancelled(evidence.job)
    # If the program on the nodes has written its end, the pods are terminating.
    if is_final or (_runs(evidence) and not waits_for_ranks(evidence.job, evidence.pods, record)):
        why = silence(evidence.pods, now) or (None if is_final else leaves(evidence.pods, now))
        return Observation(_S.RUNNING, started=_started(evidence), why=why)
    if was_given_up(evidence.job) and not _why_given_up(evidence.job):
        return Observation(_S.RUNNING, started=_started(evidence))  # its node is lost, and it is not held yet
    return Observation(_S.QUEUED, why=evidence.why)


def without_job(pods: Sequence[Mapping[str, Any]]) -> Observation:
    """The observation of an attempt from its pods, which go on although its Job was deleted."""
    why = Why("JobDeleted", "its Job was deleted on the cluster, and its pods go on")
    runs = any((pod.get("status") or {}).get("phase") == "Running" for pod in pods)
    return Observation(_S.RUNNING if runs else _S.QUEUED, why=why)


def is_lost(evidence: Evidence, now: datetime, lost_after: timedelta = LOST_AFTER) -> bool:
    """Whether its pods should have been gone for so long that their node counts as lost."""
    since = ending_since(evidence.job, evidence.pods)
    return was_given_up(evidence.job) or (since is not None and now - since > lost_after)


def _hanging(evidence: Evidence, since: datetime) -> Observation:
    """The end of an attempt whose pods never go away: it stays the same until their node is removed."""
    if evidence.record is not None and evidence.record.get("final"):
        return recorded(evidence.record, started=_started(evidence), ended=since)
    if was_cancelled(evidence.job):
        return _cancelled(evidence.job)
    if why := _why_given_up(evidence.job):
        word, _, text = why.partition(": ")
        reason = _R.INFRASTRUCTURE if word == _R.INFRASTRUCTURE.value else _R.UNSUPPORTED
        return Observation(_S.FAILED, reason, text, ended=since)
    return Observation(_S.FAILED, _R.INFRASTRUCTURE, _LOST, started=_started(evidence), ended=since)


def _cancelled(job: Mapping[str, Any]) -> Observation:
    return Observation(_S.CANCELLED, _R.TERMINATED, "it was cancelled", ended=_cancelled_at(job))


def _was_ended_by_us(evidence: Evidence, end: Observation) -> bool:
    """Whether it failed because Slipway ended it: its processes got a signal.

    A failure that the program recorded counts, unless the signal came before the job's own command.
    """
    record, request_time = evidence.record, _cancelled_at(evidence.job)
    by_record = recorded(record) if record is not None and record.get("final") else None
    is_final = by_record is not None and by_record.state is _S.FAILED
    moment = by_record.ended if by_record is not None and is_final else end.ended
    return (
        end.state is _S.FAILED
        and (not is_final or end.reason is _R.INFRASTRUCTURE)
        and request_time is not None
        and moment is not None
        and moment >= request_time
    )


def was_cancelled(job: Mapping[str, Any]) -> bool:
    """Whether Slipway cancelled it."""
    return CANCELLED in ((job.get("metadata") or {}).get("annotations") or {})


def was_ended_by_us(job: Mapping[str, Any]) -> bool:
    """Whether Slipway cancelled it, or gave it up."""
    return was_cancelled(job) or was_given_up(job)


def _has_pods(evidence: Evidence) -> bool:
    status = evidence.job.get("status") or {}
    phases = [(pod.get("status") or {}).get("phase") for pod in evidence.pods]
    are_left = any(phase in ("Pending", "Running") for phase in phases)
    return bool(are_left or status.get("active") or status.get("terminating"))


def _runs(evidence: Evidence) -> bool:
    """Whether one of its pods has started. The pods of an earlier run count until they are gone."""
    phases = [(pod.get("status") or {}).get("phase") for pod in evidence.pods]
    status = evidence.job.get("status") or {}
    return any(phase in ("Running", "Succeeded", "Failed") for phase in phases) or bool(status.get("ready"))


def waits_for_ranks(
    job: Mapping[str, Any], pods: Sequence[Mapping[str, Any]], record: Mapping[str, Any] | None
) -> bool:
    """Whether some of its pods run and the others do not yet: the command begins when all of them do.

    A record shows that it has begun, and so does the end of one of them.
    """
    phases = [(pod.get("status") or {}).get("phase") for pod in pods]
    is_ending = any((pod.get("metadata") or {}).get("deletionTimestamp") for pod in pods)
    is_decided = condition(job, "FailureTarget") or condition(job, "SuccessCriteriaMet")
    if record is not None or is_ending or is_decided or not {*phases} <= {"Pending", "Running"}:
        return False
    return 0 < phases.count("Running") < ranks_of(job)


def _started(evidence: Evidence) -> datetime | None:
    times = [untrusted.moment((pod.get("status") or {}).get("startTime")) for pod in evidence.pods]
    starts = [time for time in times if time is not None]
    return min(starts, default=untrusted.moment((evidence.job.get("status") or {}).get("startTime")))


def _cancelled_at(job: Mapping[str, Any]) -> datetime | None:
    return _noted(job, CANCELLED)


def _why_given_up(job: Mapping[str, Any]) -> str:
    """`REASON: why` an attempt was given up that has not begun; "" for one on a lost node."""
    return str(((job.get("metadata") or {}).get("annotations") or {}).get(WHY) or "")


def _given_up_at(job: Mapping[str, Any]) -> datetime | None:
    return _noted(job, GIVEN_UP)


def _noted(job: Mapping[str, Any], name: str) -> datetime | None:
    annotations = (job.get("metadata") or {}).get("annotations") or {}
    return untrusted.moment(annotations.get(name))
