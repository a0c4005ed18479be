"""Slurm's reasons for a job that waits, as sentences: its own first, then what is before the job. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from shared.core.engine import NEVER, Why
from shared.engines.saving import saving
from shared.engines.slurm.wire.dialect import Copy

#: Nothing known hinders the job.
_NOTHING = frozenset({"", "None", "WaitingForScheduling"})
#: These pass when other jobs have ended, or in a moment.
_PASSING = frozenset({"Priority", "Resources", "BeginTime", "Cleaning", "Prolog", "Licenses"})
#: Our own hold of a new job, and Slurm's hold of a job that could not start.
_OURS = "JobHeldUser"
_HELD = "held on the cluster: its administrator has to release it, or cancel the job"

_WORDS: dict[str, str] = {
    "Priority": "other jobs come first",
    "Resources": "the nodes that it needs are busy",
    "BeginTime": "it was put back into the queue, and may start again in a moment",
    "Cleaning": "its last run is being cleaned up",
    "Prolog": "its nodes are being prepared",
    "Licenses": "the licenses that it needs are in use",
    "PartitionDown": "its partition is down",
    "PartitionInactive": "its partition is inactive",
    "Dependency": "it depends on a job that has not ended",
    "ReqNodeNotAvail": "nodes that it needs are down, drained or reserved",
    "NodeDown": "a node that it needs is down",
    "Reservation": "its reservation has not begun",
    "JobHeldAdmin": _HELD,
    "JobHoldMaxRequeue": f"requeued too often, and {_HELD}",
    "launch_failed_requeued_held": f"its launch failed, and it is {_HELD}",
    "SystemFailure": "Slurm, or a file system that it needs, failed",
}
#: These last until the job or the cluster changes.
_NEVER: dict[str, str] = {
    "PartitionNodeLimit": "it asks for more nodes than its partition has or allows",
    "PartitionTimeLimit": "its wall-clock limit is above that of its partition",
    "PartitionConfig": "its partition does not allow what it asks for",
    "BadConstraints": "no node of the cluster has what it asks for",
    "MaxMemPerLimit": "it asks for more memory than is allowed",
    "InvalidAccount": "its account is not valid on the cluster",
    "InvalidQOS": "its quality of service (QOS) is not valid on the cluster",
    "AccountNotAllowed": "its account may not use its partition",
    "DependencyNeverSatisfied": "a job that it depends on ended otherwise",
    "ReservationDeleted": "its reservation was deleted",
    "ReservationInvalid": "its reservation is not valid",
}
#: Families of words, by their beginning.
_LIMITS = {
    "QOS": "a limit of its quality of service (QOS) is reached",
    "Assoc": "a limit of its account is reached",
    "AccountingPolicy": "a limit of its account is reached",
}
_WORD = re.compile(r"\w+", re.ASCII)
#: Between that word and what Slurm adds to it.
_SEPARATORS = " ,:;"
#: A job that runs, and does nothing at the moment.
_SUSPENDED = Why("Suspended", "suspended on the cluster: it keeps its nodes, and goes on when it is resumed")
#: To so many seconds a start is given, and so many jobs are counted one by one: both change all the time,
#: and each new sentence is a write.
_STEP, _EXACT = 600, 10


def waits_for(copy: Copy) -> Why | None:
    """What a job waits for; None if unknown."""
    if copy.held and copy.description:
        return Why(_OURS, f"Slurm held it again: {copy.description}. It is released, and may start anew")
    if copy.held:
        return Why(_OURS, "it is released as soon as Slurm cannot forget it any more", passes=True)
    match = _WORD.match(copy.reason)
    word = match[0] if match else copy.reason
    if word in _NOTHING:
        return None
    behind = copy.reason.removeprefix(word).strip(_SEPARATORS)
    own = copy.description or behind
    if word in _NEVER:
        return Why(word, f"{NEVER}: {_with_words(_NEVER[word], own)}", never=True)
    limit = next((text for start, text in _LIMITS.items() if word.startswith(start)), "")
    text = _WORDS.get(word) or limit
    text = _with_words(text, behind) if text else f"Slurm reports {copy.reason}"
    if copy.description:
        text = f"Slurm: {copy.description}"
    return Why(word, "; ".join((text, *_outlook(copy))), passes=word in _PASSING and not own)


def _with_words(text: str, own: str) -> str:
    """Our sentence, with Slurm's own words if it has any."""
    return f"{text} (Slurm: {own})" if own else text


def pauses_for(copy: Copy) -> Why | None:
    """Why a job that runs does nothing, or only saves; None for any other."""
    if copy.leaves:
        return saving()
    return _SUSPENDED if "SUSPENDED" in copy.states else None


def _outlook(copy: Copy) -> Iterator[str]:
    """How many jobs are before it, and when Slurm expects its start."""
    if copy.ahead:
        text = "1 job is" if copy.ahead == 1 else f"{_rounded(copy.ahead)} jobs are"
        yield f"{text} before it in its partition"
    if copy.started:
        start = datetime.fromtimestamp(-(-copy.started // _STEP) * _STEP, UTC)
        yield f"Slurm expects it to start by {start:%Y-%m-%d %H:%M} UTC"


def _rounded(number: int) -> str:
    """The number, to one digit from ten on."""
    if number < _EXACT:
        return str(number)
    unit = 10 ** (len(str(number)) - 1)
    return f"about {round(number / unit) * unit:,}"
