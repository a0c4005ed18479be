"""Translates Azure Batch's terms into Slipway's. Pure tables and functions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from shared.core.engine import Observation, Why
from shared.core.errors import Transient
from shared.core.job import JobState, Reason
from shared.engines import untrusted
from shared.engines.recorded import CODES, MEMORY, NODE_ENDED, explained, was_asked, was_ended

_S, _R = JobState, Reason

#: A task's state → the job's.
STATES: Mapping[str, JobState] = {
    "active": _S.QUEUED,
    "preparing": _S.QUEUED,
    "running": _S.RUNNING,
    "completed": _S.SUCCEEDED,
}
#: The states of a task that has not ended.
UNFINISHED = ("active", "preparing", "running")
#: Codes of failureInfo after a request by Slipway or an operator.
_ENDED = frozenset({"TaskEnded", "TaskEndedByUser", "TaskTerminated"})
#: What an operator changes after a failure that each job of the pool meets.
_REMEDIES: Mapping[str, str] = {
    "ContainerTaskSettingsNotFound": "the pool runs nothing but containers of its own: make it without "
    "containerConfiguration, since Slipway starts those of its jobs itself",
}
_PREPARING = Why("Preparing", "its node is being prepared", passes=True)
#: SIGKILL, as a shell and the program on the nodes report it.
_KILLED = 137


class _Times(NamedTuple):
    """When a task started and ended, by the service."""

    started: datetime | None
    ended: datetime | None


def observation(task: Mapping[str, Any], record: Mapping[str, Any] | None = None) -> Observation:
    """The observation from a task and its run's record. Raises Transient for unknown terms."""
    name, word = str(task.get("id")), str(task.get("state"))
    if word not in STATES:
        raise Transient(f"Azure Batch reports an unknown state of {name}: {word!r}")
    facts = task.get("executionInfo") or {}
    state = STATES[word]
    if state is _S.QUEUED:
        return Observation(state, why=_PREPARING if word == "preparing" else None)
    if state is _S.RUNNING:
        return Observation(state, started=untrusted.moment(facts.get("startTime")))
    return explained(_ended(facts, record), record)


def nodes_of(task: Mapping[str, Any]) -> int:
    """The number of nodes of a task."""
    return int((task.get("multiInstanceSettings") or {}).get("numberOfInstances") or 1)


def was_taken_back(task: Mapping[str, Any]) -> bool:
    """Whether a waiting task has run before: its node is gone, or tasks of a higher priority took it."""
    return bool((task.get("executionInfo") or {}).get("requeueCount"))


def ended_by_request(task: Mapping[str, Any]) -> bool:
    """Whether a task ended since someone asked for it."""
    failure = (task.get("executionInfo") or {}).get("failureInfo") or {}
    return str(failure.get("code") or "") in _ENDED


def _times(facts: Mapping[str, Any]) -> _Times:
    return _Times(untrusted.moment(facts.get("startTime")), untrusted.moment(facts.get("endTime")))


def _ended(facts: Mapping[str, Any], record: Mapping[str, Any] | None) -> Observation:
    started, ended = _times(facts)
    end = Observation(_S.SUCCEEDED, started=started, ended=ended)
    code, failure = untrusted.exit_code(facts.get("exitCode")), facts.get("failureInfo") or {}
    word = str(failure.get("code") or "")
    if word in _ENDED:
        return end._replace(state=_S.CANCELLED, reason=_R.TERMINATED, message=_text(failure))
    if was_ended(record, code):
        return end._replace(state=_S.CANCELLED, reason=_R.TERMINATED)
    if was_asked(record, code):
        return end._replace(state=_S.FAILED, reason=_R.INFRASTRUCTURE, message=NODE_ENDED)
    if code is not None:
        return _with_code(end, code)
    if not failure and facts.get("result") == "success":
        return end
    text = _text(failure) or "Azure Batch does not report how it ended"
    # Command lines and files of a task are Slipway's, so no category of the service blames the job's author.
    return end._replace(state=_S.FAILED, reason=_R.INFRASTRUCTURE, message=text, unstarted=started is None)


def _with_code(end: Observation, code: int) -> Observation:
    if code == 0:
        return end._replace(exit_code=0)
    if code in CODES:
        reason, text = CODES[code]
        shown = 1 if reason is _R.PREPARATION else None
        return end._replace(state=_S.FAILED, reason=reason, message=text, exit_code=shown)
    text = MEMORY if code == _KILLED else f"the job ended with exit code {code}"
    return end._replace(state=_S.FAILED, reason=_R.USER, message=text, exit_code=code)


def _text(failure: Mapping[str, Any]) -> str:
    code, message = str(failure.get("code") or ""), str(failure.get("message") or "")
    return "; ".join(filter(None, (": ".join(filter(None, (code, message)))[:500], _REMEDIES.get(code))))
