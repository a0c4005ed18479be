"""Translates the terms of Slurm, and of the program on its nodes, into Slipway's. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from shared.core.engine import Observation
from shared.core.errors import Busy
from shared.core.job import JobState, Reason
from shared.engines.recorded import CODES, MEMORY, NODE_ENDED, explained, was_asked
from shared.engines.slurm.wait_reasons import pauses_for, waits_for
from shared.engines.slurm.wire.dialect import Copy

_S, _R = JobState, Reason


class Meaning(NamedTuple):
    """A job state, and the reason for it."""

    state: JobState
    reason: Reason | None = None


#: A job's state in Slurm → the job's state and reason. Flags beside a state come first: they are more
#: specific.
STATES: dict[str, Meaning] = {
    "REQUEUED": Meaning(_S.QUEUED),
    "REQUEUE_FED": Meaning(_S.QUEUED),
    "REQUEUE_HOLD": Meaning(_S.QUEUED),
    "SPECIAL_EXIT": Meaning(_S.QUEUED),
    "CONFIGURING": Meaning(_S.QUEUED),
    "POWER_UP_NODE": Meaning(_S.QUEUED),
    # Its processes may still run.
    "COMPLETING": Meaning(_S.RUNNING),
    "STAGE_OUT": Meaning(_S.RUNNING),
    "LAUNCH_FAILED": Meaning(_S.FAILED, _R.INFRASTRUCTURE),
    "RECONFIG_FAIL": Meaning(_S.FAILED, _R.INFRASTRUCTURE),
    "PENDING": Meaning(_S.QUEUED),
    "RUNNING": Meaning(_S.RUNNING),
    "SUSPENDED": Meaning(_S.RUNNING),
    "STOPPED": Meaning(_S.RUNNING),
    "SIGNALING": Meaning(_S.RUNNING),
    "RESIZING": Meaning(_S.RUNNING),
    "COMPLETED": Meaning(_S.SUCCEEDED),
    "CANCELLED": Meaning(_S.CANCELLED, _R.TERMINATED),
    "FAILED": Meaning(_S.FAILED, _R.USER),
    "TIMEOUT": Meaning(_S.FAILED, _R.TIMEOUT),
    "DEADLINE": Meaning(_S.FAILED, _R.TIMEOUT),
    "NODE_FAIL": Meaning(_S.FAILED, _R.INFRASTRUCTURE),
    "BOOT_FAIL": Meaning(_S.FAILED, _R.INFRASTRUCTURE),
    "REVOKED": Meaning(_S.FAILED, _R.INFRASTRUCTURE),
    "PREEMPTED": Meaning(_S.FAILED, _R.PREEMPTED),
    "OUT_OF_MEMORY": Meaning(_S.FAILED, _R.USER),
}

#: SIGKILL, and the last of the common signals: Slurm uses higher numbers for scripts that it cannot start.
_KILL, _LAST_SIGNAL = 9, 31
_UNSTARTED = "nothing of it ran: a node did not boot, or the launch failed (prolog, shared directory, disk)"
#: Exit codes of the kernel, or env, for a program that is missing or cannot be run.
_NO_PROGRAM = frozenset({126, 127})
#: Seconds in which a program or a script that cannot be run has ended.
_AT_ONCE = 60.0
_NO_PYTHON = "nothing of it ran: `path` of the cluster, which its operator sets, leads to no python3"


def state_of(states: frozenset[str], job: object) -> Meaning:
    """The meaning of some words. Raises Busy for unknown ones: they decide nothing."""
    for word, meaning in STATES.items():
        if word in states:
            return meaning
    raise Busy(f"the cluster reports unknown states of {job}: {sorted(states)!r}")


def has_ended(copy: Copy) -> bool:
    """Whether a job has ended. One in an unknown state may go on."""
    try:
        return state_of(copy.states, copy.name).state.terminal
    except Busy:
        return False


def observation(copy: Copy, record: Mapping[str, Any] | None, *, visible: bool = False) -> Observation:
    """The observation from a job on the cluster and the record of its run.

    `visible`: whether this app can read records, so that a missing one means that nothing has started.
    """
    state, reason = state_of(copy.states, copy.name)
    if not state.terminal:
        waits = waits_for(copy) if state is _S.QUEUED else pauses_for(copy)
        running = copy.started if state is _S.RUNNING else None
        return Observation(state, started=_time(running), why=waits, handle=str(copy.id))
    started, ended = _time(_began(copy)), _time(copy.ended)
    exit_code = copy.code if reason in (None, _R.USER) else None
    plain = Observation(state, reason, "", exit_code, started, ended, handle=str(copy.id))
    begun = True if record is not None else False if visible else None
    plain, why = _by_node(plain) if was_asked(record, exit_code) else _explained(copy, plain, begun)
    plain = explained(plain, record)
    if plain.state is _S.SUCCEEDED or plain.message:
        return plain._replace(handle=str(copy.id))
    return plain._replace(message=": ".join((f"Slurm job {copy.id}", ", ".join(sorted(copy.states)), *why)))


class _Explained(NamedTuple):
    """What an end means beyond its state, with the reasons as sentences."""

    observed: Observation
    why: tuple[str, ...]


def _by_node(observed: Observation) -> _Explained:
    return _Explained(observed._replace(reason=_R.INFRASTRUCTURE, exit_code=None), (NODE_ENDED,))


def _explained(copy: Copy, observed: Observation, begun: bool | None) -> _Explained:
    """What an end means beyond its state, and why. `begun`: None if unknown."""
    if _never_began(copy, begun):
        # One that removed its own record may look so: its nodes were its own for as long as Slurm says.
        had_nodes = "BOOT_FAIL" not in copy.states and bool(copy.nodes)
        started = observed.started if had_nodes else None
        unstarted = observed._replace(
            state=_S.FAILED, reason=_R.INFRASTRUCTURE, exit_code=None, started=started
        )
        why = _NO_PYTHON if copy.code in _NO_PROGRAM else _UNSTARTED
        return _Explained(unstarted._replace(unstarted=True, had_nodes=had_nodes), (why,))
    if "OUT_OF_MEMORY" in copy.states:
        return _Explained(observed._replace(exit_code=copy.code or None), (MEMORY,))
    if observed.reason is not _R.USER:
        return _Explained(observed, ())
    if copy.code in _NO_PROGRAM and begun is None:
        return _Explained(observed, ("a command was not found, or python3 in `path` of the cluster",))
    if copy.code in CODES:
        reason, text = CODES[copy.code]
        return _Explained(
            observed._replace(reason=reason, exit_code=1 if reason is _R.PREPARATION else None), (text,)
        )
    if copy.signal == _KILL and begun is not False:
        return _Explained(observed._replace(exit_code=128 + _KILL), (MEMORY,))
    if copy.signal and not copy.code:
        text = f"its script ended by signal {copy.signal}"
        return _Explained(observed._replace(reason=_R.INFRASTRUCTURE, exit_code=None), (text,))
    return _Explained(observed, ())


def _never_began(copy: Copy, begun: bool | None) -> bool:
    """Whether Slurm gave the job up before its program started."""
    if begun:
        return False
    if "FAILED" in copy.states:
        # A job that removed its own record, and ends in such a way, ran for as long as Slurm says.
        if (copy.ended or 0) - (copy.started or 0) >= _AT_ONCE:
            return False
        no_program = begun is False and copy.code in _NO_PROGRAM
        return no_program or (copy.signal > _LAST_SIGNAL and not copy.code)
    if "CANCELLED" in copy.states:
        # A failed prolog. A job that is cancelled in the queue has no nodes, and a run leaves a code.
        return begun is False and bool(copy.nodes) and not (copy.code or copy.signal)
    return "BOOT_FAIL" in copy.states or ("NODE_FAIL" in copy.states and begun is False)


def _began(copy: Copy) -> float | None:
    """When an ended job started.

    For a job that was cancelled in its queue, Slurm gives the time of its end.
    """
    waited = not copy.nodes and copy.states & {"CANCELLED", "DEADLINE"}
    return None if waited and (copy.started or 0) >= (copy.ended or 0) else copy.started


def _time(seconds: float | None) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None
