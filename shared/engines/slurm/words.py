"""Slurm's words in ours, and those of the program on its nodes. Pure tables and functions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from shared.engines import said
from shared.engines.slurm.dialect import Copy
from shared.errors import Transient
from shared.job import JobState, Reason
from shared.ports import Observation

_S, _R = JobState, Reason

#: A job's state → ours, and why. The flags that may stand beside a state come first: they say more.
STATES: dict[str, tuple[JobState, Reason | None]] = {
    "REQUEUED": (_S.QUEUED, None),
    "REQUEUE_FED": (_S.QUEUED, None),
    "REQUEUE_HOLD": (_S.QUEUED, None),
    "SPECIAL_EXIT": (_S.QUEUED, None),
    "CONFIGURING": (_S.QUEUED, None),
    "POWER_UP_NODE": (_S.QUEUED, None),
    # Its processes may still run.
    "COMPLETING": (_S.RUNNING, None),
    "STAGE_OUT": (_S.RUNNING, None),
    "LAUNCH_FAILED": (_S.FAILED, _R.INFRASTRUCTURE),
    "RECONFIG_FAIL": (_S.FAILED, _R.INFRASTRUCTURE),
    "PENDING": (_S.QUEUED, None),
    "RUNNING": (_S.RUNNING, None),
    "SUSPENDED": (_S.RUNNING, None),
    "STOPPED": (_S.RUNNING, None),
    "SIGNALING": (_S.RUNNING, None),
    "RESIZING": (_S.RUNNING, None),
    "COMPLETED": (_S.SUCCEEDED, None),
    "CANCELLED": (_S.CANCELLED, _R.TERMINATED),
    "FAILED": (_S.FAILED, _R.USER),
    "TIMEOUT": (_S.FAILED, _R.TIMEOUT),
    "DEADLINE": (_S.FAILED, _R.TIMEOUT),
    "NODE_FAIL": (_S.FAILED, _R.INFRASTRUCTURE),
    "BOOT_FAIL": (_S.FAILED, _R.INFRASTRUCTURE),
    "REVOKED": (_S.FAILED, _R.INFRASTRUCTURE),
    "PREEMPTED": (_S.FAILED, _R.PREEMPTED),
    "OUT_OF_MEMORY": (_S.FAILED, _R.USER),
}

#: Exit codes of the program on the nodes where the job's command gave none (`node/run.py`, `node/claim.py`).
_CODES: dict[int, tuple[Reason, str]] = {
    124: (_R.TIMEOUT, "the wall-clock limit was reached"),
    250: (_R.INFRASTRUCTURE, "a node could not be made ready"),
    251: (_R.PREPARATION, "the job preparation failed"),
    252: (_R.INFRASTRUCTURE, "its name belongs to another job"),
    253: (_R.INFRASTRUCTURE, "an earlier copy had begun, and the cluster lost it; it is not run again"),
    254: (_R.INFRASTRUCTURE, "another run of it took over"),
}
#: Those of a copy that ran nothing, because another one has the claim.
IDLE = frozenset({252, 253, 254})


def state_of(states: frozenset[str], job: object) -> tuple[JobState, Reason | None]:
    """Raises Transient for words that are not in the table: they decide nothing."""
    for word, meaning in STATES.items():
        if word in states:
            return meaning
    raise Transient(f"the cluster says {sorted(states)!r} of {job}, a state nobody here knows")


def observation(copy: Copy, record: Mapping[str, Any] | None) -> Observation:
    """What a job on the cluster and the record of its run say together."""
    state, reason = state_of(copy.states, copy.name)
    if state.terminal and record is not None and record.get("final"):
        return recorded(record)
    started = copy.started if state is not _S.QUEUED else None
    if not state.terminal:
        return Observation(state, message=_why(copy, state), started=_time(started))
    message = f"Slurm job {copy.id}: {', '.join(sorted(copy.states))}"
    exit_code: int | None = copy.code
    if reason is _R.USER and copy.code in _CODES:
        reason, text = _CODES[copy.code]
        message, exit_code = f"{message}: {text}", 1 if reason is _R.PREPARATION else None
    elif reason is _R.USER and copy.signal and not copy.code:
        # slurmd could not even start it: no directory, no python3, a full disk.
        reason, exit_code = _R.INFRASTRUCTURE, None
        message = f"{message}: its script ended by signal {copy.signal}; is the shared directory there?"
    elif reason not in (None, _R.USER):
        exit_code = None
    text = "" if state is _S.SUCCEEDED else message
    return Observation(state, reason, text, exit_code, _time(started), _time(copy.ended))


def recorded(record: Mapping[str, Any]) -> Observation:
    """What the record of a run that ended says. A job can write it: what cannot be used is left out."""
    reason = _reason(record.get("reason"))
    state = _S.SUCCEEDED if reason is None else _S.CANCELLED if reason is _R.TERMINATED else _S.FAILED
    text = record.get("message")
    return Observation(
        state,
        reason,
        text if reason is not None and isinstance(text, str) else "",
        said.exit_code(record.get("exitCode")),
        said.moment(record.get("started")),
        said.moment(record.get("ended")),
    )


def _reason(word: Any) -> Reason | None:
    """Why it ended, None for a success. A word that is none of ours was written by the job itself."""
    try:
        return Reason(word) if word else None
    except ValueError:
        return _R.USER


def _why(copy: Copy, state: JobState) -> str:
    waits = state is _S.QUEUED and copy.reason not in ("", "None")
    return f"Slurm: {copy.reason}" if waits else ""


def _time(seconds: float | None) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None
