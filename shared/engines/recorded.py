"""What the program on the nodes reports about a run that ended: its record, and its exit codes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from shared.core.engine import Observation
from shared.core.job import JobState, Reason
from shared.core.relations.hold import Held
from shared.engines import untrusted
from shared.engines.runs import UNPROVEN

_S, _R = JobState, Reason

#: Exit codes of the program if the job's command gave none (`node/run.py`, `node/claim.py`, `node/shell`).
CODES: Mapping[int, tuple[Reason, str]] = {
    124: (_R.TIMEOUT, "the wall-clock limit was reached"),
    242: (_R.INFRASTRUCTURE, "no room is left in `shared` of the cluster, where its run is recorded"),
    243: (_R.UNSUPPORTED, "its image has neither sha256sum nor openssl, to prove the records of the job"),
    249: (_R.INFRASTRUCTURE, "it waited longer than its signatures for storage live"),
    250: (_R.INFRASTRUCTURE, "a node could not be made ready"),
    251: (_R.PREPARATION, "the job preparation failed"),
    252: (_R.INFRASTRUCTURE, "its name belongs to another job"),
    253: (_R.INFRASTRUCTURE, "an earlier copy had begun, and the cluster lost it; it is not run again"),
    254: (_R.INFRASTRUCTURE, "another run of it took over"),
}
#: The exit codes of a copy that ran nothing, because another one has the claim.
IDLE = frozenset({252, 253, 254})
#: The usual cause of SIGKILL.
MEMORY = "killed by the cluster (signal 9), usually because it used more memory than it had"

_WITHOUT_PROOF = "a record without its proof was found, and does not count"

#: The exit code of a run that got a signal to end (SIGTERM), and its meaning if we sent no request.
_TERM = 143
NODE_ENDED = "its node asked its processes to end, as a node does that goes down"


def was_asked(record: Mapping[str, Any] | None, code: int | None) -> bool:
    """Whether a run ended because it was asked to, by the exit code of its job and its record."""
    return code == _TERM and is_asked(record)


def was_ended(record: Mapping[str, Any] | None, code: int | None) -> bool:
    """Whether a run ended because the app asked for it: its record is final, as nothing may follow."""
    return code == _TERM and record is not None and bool(record.get("final")) and _is_terminated(record)


def is_asked(record: Mapping[str, Any] | None) -> bool:
    """Whether a run recorded that it was asked to end. Not final, since a signal does not show its sender."""
    if record is None or record.get("final"):
        return False
    return _is_terminated(record)


def _is_terminated(record: Mapping[str, Any]) -> bool:
    return record.get("state") == "ended" and record.get("reason") == _R.TERMINATED.value


def recorded(
    record: Mapping[str, Any], *, started: datetime | None = None, ended: datetime | None = None
) -> Observation:
    """The content of an ended run's record. A job can write it, so unusable values are left out.

    `started` and `ended`: the scheduler's own times. Use is counted by them, so a record decides neither
    that it has.
    """
    reason = _reason(record.get("reason"))
    state = _S.SUCCEEDED if reason is None else _S.CANCELLED if reason is _R.TERMINATED else _S.FAILED
    text = record.get("message")
    return Observation(
        state,
        reason,
        text if reason is not None and isinstance(text, str) else "",
        untrusted.exit_code(record.get("exitCode")),
        started or untrusted.moment(record.get("started")),
        ended or untrusted.moment(record.get("ended")),
    )


def held(record: Mapping[str, Any] | None) -> Held | None:
    """How a run ended whose nodes are kept; None for any other, and without the proof of its record."""
    member = None if record is None or UNPROVEN in record else record.get("held")
    until = untrusted.moment(member.get("until")) if isinstance(member, dict) else None
    if record is None or until is None or not record.get("final"):
        return None
    end = recorded(record)
    if end.reason is not _R.USER:
        return None
    return Held(exit_code=end.exit_code, message=end.message, until=until)


def explained(end: Observation, record: Mapping[str, Any] | None) -> Observation:
    """An end that the scheduler reported, with what the record of the run says of it.

    A job can write its record, and on some clusters that of another job. So the scheduler alone decides
    whether the job succeeded, failed or was cancelled; the record says why it failed.
    """
    if record is None or not record.get("final"):
        return end
    by_record = recorded(record, started=end.started, ended=end.ended)
    if end.state is _S.SUCCEEDED or by_record.state is not _S.FAILED:
        return end
    # Some accounting reports the code 0 of jobs that failed.
    code = None if by_record.exit_code is None else end.exit_code or by_record.exit_code
    unstarted = end.unstarted or record.get("unstarted") is True
    had_nodes = unstarted and not end.used_nothing
    is_other = record.get("otherCode") is True
    return by_record._replace(
        exit_code=code, unstarted=unstarted, had_nodes=had_nodes, is_other_code=is_other
    )


def placed(observed: Observation, record: Mapping[str, Any] | None, segment: str) -> Observation:
    """An observation with the folders of the recorded run. If it failed, it says that a proof is missing."""
    if record is not None and UNPROVEN in record and observed.state in (_S.FAILED, _S.CANCELLED):
        observed = observed._replace(message="; ".join(filter(None, (observed.message, _WITHOUT_PROOF))))
    return observed._replace(segment=segment)


def _reason(word: Any) -> Reason | None:
    """Why it ended, None for a success. An unknown word was written by the job itself."""
    try:
        return Reason(word) if word else None
    except ValueError:
        return _R.USER
