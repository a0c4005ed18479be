"""How a Job ended, from its conditions, its pods' exit codes and the record of its run. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shared.core.engine import Observation
from shared.core.job import JobState, Reason
from shared.engines import untrusted
from shared.engines.kubernetes.translation.code import without_code
from shared.engines.kubernetes.translation.conditions import condition
from shared.engines.recorded import CODES, MEMORY, NODE_ENDED, explained, was_asked

_S, _R = JobState, Reason

_EXIT = re.compile(r"failed with exit code (\d+) matching FailJob rule", re.ASCII)
_DISRUPTED = "has condition DisruptionTarget"
_DEADLINE = "DeadlineExceeded"
_OUT_OF_MEMORY = "OOMKilled"
#: SIGKILL, as the exit code of a container.
_KILLED = 137
_LONGEST = 500

Objects = Sequence[Mapping[str, Any]]


def ended(
    job: Mapping[str, Any], pods: Objects, record: Mapping[str, Any] | None, *, is_seen: bool = False
) -> Observation | None:
    """The end of a Job; None if it has not ended. The record of its run explains a failure.

    `is_seen`: whether a record of it would have been found.
    """
    complete, failed = condition(job, "Complete"), condition(job, "Failed")
    if complete is None and failed is None:
        return None
    status = job.get("status") or {}
    began = [when for one in _containers(pods) if (when := untrusted.moment(_begun(one))) is not None]
    moment = untrusted.moment(
        status.get("completionTime") or (failed or complete or {}).get("lastTransitionTime")
    )
    codeless = None if failed is None else without_code(pods, failed)
    end = Observation(_S.SUCCEEDED, exit_code=0)
    if failed is not None:
        never_began = is_seen and record is None and ranks_of(job) > 1 and _is_late(failed, pods)
        end = _never_began(job) if never_began else _failed(failed, pods, record, codeless)
    if failed is not None and end is not codeless:
        end = end._replace(unstarted=_nothing_ran(pods))
    end = end._replace(started=min(began, default=None), ended=moment)
    return explained(end, record)


def ranks_of(job: Mapping[str, Any]) -> int:
    """How many pods its command needs."""
    return int((job.get("spec") or {}).get("completions") or 1)


def exit_code(pods: Objects) -> int | None:
    """The code of the pod that failed first; None if no remaining pod has one."""
    codes = [
        (str(state.get("finishedAt") or ""), code)
        for one in _containers(pods)
        if (state := _terminated(one)) is not None
        and (code := untrusted.exit_code(state.get("exitCode"))) not in (None, 0)
    ]
    return min(codes)[1] if codes else None


def _failed(
    why: Mapping[str, Any],
    pods: Objects,
    record: Mapping[str, Any] | None,
    codeless: Observation | None = None,
) -> Observation:
    word, message = str(why.get("reason") or ""), str(why.get("message") or "")
    if _is_late(why, pods):
        return Observation(_S.FAILED, _R.TIMEOUT, "the wall-clock limit was reached")
    match = _EXIT.search(message)
    is_disrupted = match is None and any(condition(pod, "DisruptionTarget") for pod in pods)
    if is_disrupted or _DISRUPTED in message:
        return Observation(_S.FAILED, _R.PREEMPTED, _disruption(pods, message))
    if codeless is not None:
        return codeless
    code = int(match[1]) if match else exit_code(pods)
    if was_asked(record, code):
        return Observation(_S.FAILED, _R.INFRASTRUCTURE, NODE_ENDED)
    if code is not None:
        return _with_code(code, pods)
    text = f"{word}: {message}"[:_LONGEST] if word else "Kubernetes does not report how it ended"
    return Observation(_S.FAILED, _R.INFRASTRUCTURE, text)


def _never_began(job: Mapping[str, Any]) -> Observation:
    """The end of pods that waited for others until their limit."""
    text = f"it never began: some of its {ranks_of(job)} pods were missing until the wall-clock limit"
    return Observation(_S.FAILED, _R.INFRASTRUCTURE, text)


def _is_late(why: Mapping[str, Any], pods: Objects) -> bool:
    """Whether the limit ended it: that of the Job, or of a pod."""
    return _DEADLINE in (why.get("reason"), *((pod.get("status") or {}).get("reason") for pod in pods))


def _with_code(code: int, pods: Objects) -> Observation:
    if code in CODES:
        reason, text = CODES[code]
        return Observation(_S.FAILED, reason, text, 1 if reason is _R.PREPARATION else None)
    if any((_terminated(one) or {}).get("reason") == _OUT_OF_MEMORY for one in _containers(pods)):
        text = "ended by the cluster: it used more memory than its limit (OOMKilled)"
        return Observation(_S.FAILED, _R.USER, text, code)
    text = MEMORY if code == _KILLED else f"the job ended with exit code {code}"
    return Observation(_S.FAILED, _R.USER, text, code)


def _disruption(pods: Objects, message: str) -> str:
    """Why its node was taken away, from a pod if one is left."""
    for pod in pods:
        mark = condition(pod, "DisruptionTarget")
        if mark is not None:
            return f"taken from its node: {mark.get('reason')}: {mark.get('message')}"[:_LONGEST]
    return f"taken from its node: {message}"[:_LONGEST]


def _nothing_ran(pods: Objects) -> bool:
    """Whether no container has started; False if pods are gone, since then it is unknown."""
    statuses = [pod.get("status") or {} for pod in pods]
    return bool(statuses) and not any(_begun(one) for one in _containers(pods))


def _containers(pods: Objects) -> Iterable[Mapping[str, Any]]:
    for pod in pods:
        yield from (pod.get("status") or {}).get("containerStatuses") or ()


def _terminated(container: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return (container.get("state") or {}).get("terminated")


def _begun(container: Mapping[str, Any]) -> Any:
    state = container.get("state") or {}
    return (state.get("running") or state.get("terminated") or {}).get("startedAt")
