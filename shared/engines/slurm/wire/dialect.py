"""The requests to slurmrestd and its answers, in each of its dialects. Pure.

Slurm 22.05 speaks v0.0.38; 23.11 to 26.05 speak some of v0.0.40 to v0.0.45, which differ here only in the
place of the script. A field of another dialect is ignored without an error, so every difference is in the
one table below.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Fields = dict[str, Any]
#: The number of GPUs of one node, in "gpu:a100:2(IDX:0-1)" or "gres:gpu:2"; and that of nodes in AllocTRES.
_GPUS = re.compile(r"(?:^|,)(?:gres[:/])?gpu(?::[^:=,()]+)?[:=](\d{1,6})", re.ASCII)
_NODES = re.compile(r"(?:^|,)node=(\d{1,6})", re.ASCII)
#: The last second that a time may name (year 9998): what is reckoned from it can be shown, too.
LATEST = 253_370_764_799


@dataclass(frozen=True)
class Copy:
    """One job on the cluster with the name of an attempt."""

    id: int
    name: str
    #: its user; a number if the server cannot name it
    user: str
    #: the attempt in its comment, "" for none. Any user can write that, so it counts only with our user
    token: str
    #: the explicit priority that it should have
    marked_priority: int | None
    states: frozenset[str]
    held: bool
    priority: int
    submitted: float
    started: float | None
    ended: float | None
    restarts: int
    #: exit code and signal of the batch script
    code: int
    signal: int
    reason: str
    #: details of the reason; usually ""
    description: str
    nodes: str
    #: what Slurm gave it, on all its nodes: "cpu=4,mem=16G,node=2,gres/gpu=2"; "" before
    allocated: str = ""
    partition: str = ""
    #: how many waiting jobs of its partition are before it, of all users that the list shows
    ahead: int = 0
    #: whether it is being preempted, and has the time of grace of its partition or QOS
    leaves: bool = False


class Exit(NamedTuple):
    """How a batch script ended: exit code and signal, 0 if not applicable."""

    code: int
    signal: int


@dataclass(frozen=True)
class Dialect:
    """One version of the interface."""

    version: str
    environment: Callable[[Mapping[str, str]], Any]
    number: Callable[[int], Any]
    #: of each node: "2", "a100:2"
    gpus: Callable[[str], Fields]
    exclusive: Fields
    requeue: Callable[[bool], Fields]
    append: Any
    script_in_job: bool
    #: an endpoint that lists states alone, in a fortieth of the bytes
    states: bool
    #: whether processes in `srun --container` know their rank; in 22.05 all have the same
    bundles: bool
    exit: Callable[[Any], Exit]

    def submission(self, job: Fields, script: str) -> Fields:
        """The body of a submission."""
        if self.script_in_job:
            return {"job": {**job, "script": script}}
        return {"script": script, "job": job}


def _wait_status(value: Any) -> Exit:
    status = int(value or 0)
    return Exit(status >> 8 & 255, status & 127)


def exit_object(value: Any) -> Exit:
    """Exit code and signal, in the form of newer dialects and of every slurmdbd."""
    exit_code = value or {}
    signal = (exit_code.get("signal") or {}).get("id")
    return Exit(integer(exit_code.get("return_code")) or 0, integer(signal) or 0)


def _old(version: str) -> Dialect:
    return Dialect(
        version,
        environment=dict,
        number=int,
        gpus=lambda gpus: {"gres": f"gpu:{gpus}"},
        exclusive={"exclusive": "exclusive"},
        # Any value of `requeue` means true.
        requeue=lambda requeue: {"requeue": True} if requeue else {"no_requeue": True},
        append="append",
        script_in_job=False,
        states=False,
        bundles=False,
        exit=_wait_status,
    )


def _new(version: str, *, script_in_job: bool = True) -> Dialect:
    return Dialect(
        version,
        environment=lambda variables: [f"{name}={value}" for name, value in variables.items()],
        number=lambda value: {"set": True, "infinite": False, "number": value},
        gpus=lambda gpus: {"tres_per_node": f"gres/gpu:{gpus}"},
        exclusive={"shared": ["none"]},
        requeue=lambda requeue: {"requeue": requeue},
        append=["APPEND"],
        script_in_job=script_in_job,
        states=True,
        bundles=True,
        exit=exit_object,
    )


#: Newest first; the first that a server knows is used.
DIALECTS: tuple[Dialect, ...] = (
    *(_new(f"v0.0.{number}") for number in range(45, 40, -1)),
    _new("v0.0.40", script_in_job=False),
    _old("v0.0.38"),
)


def comment(token: str, priority: int | None) -> str:
    """The comment that marks a job as ours."""
    return json.dumps({"slipway": token, "priority": priority})


def copy_of(dialect: Dialect, job: Mapping[str, Any]) -> Copy:
    """A job from the server's list.

    Raises ValueError, KeyError, TypeError, AttributeError or OverflowError if it cannot be read.
    """
    if name_of(job) is None or user_of(job) is None or not isinstance(job.get("comment"), str | dict | None):
        raise ValueError("it does not say whose it is")
    marks = _comment(job.get("comment"))
    states = job.get("job_state") or ()
    words = frozenset([states] if isinstance(states, str) else states)
    if not all(isinstance(word, str) for word in words):
        raise ValueError("its state is not a word")
    code, signal = dialect.exit(job.get("exit_code"))
    return Copy(
        id=int(job["job_id"]),
        name=name_of(job) or "",
        user=user_of(job) or "",
        token=str(marks.get("slipway") or ""),
        marked_priority=integer(marks.get("priority")),
        states=words,
        # Our own hold; a hold by an administrator has another reason, and Slipway must not lift it.
        held=job.get("state_reason") == "JobHeldUser",
        priority=integer(job.get("priority")) or 0,
        submitted=float(integer(job.get("submit_time")) or 0),
        started=_moment(job.get("start_time")),
        ended=_moment(job.get("end_time")),
        restarts=integer(job.get("restart_cnt")) or 0,
        code=code,
        signal=signal,
        reason=_text(job.get("state_reason")),
        description=_text(job.get("state_description")),
        nodes=_text(job.get("nodes")),
        allocated=_allocated(job),
        partition=_text(job.get("partition")),
        leaves=bool(integer(job.get("preempt_time"))),
    )


def name_of(job: Any) -> str | None:
    """The name of a job; "" if it has none, and None if it cannot be read."""
    if not isinstance(job, dict):
        return None
    name = job.get("name")
    return name if isinstance(name, str) else "" if name is None else None


def user_of(job: Any) -> str | None:
    """The user of a job, or the number of a user that the server cannot name; None if it cannot be read."""
    if not isinstance(job, dict):
        return None
    user = job.get("user_name")
    if user in (None, ""):
        user = str(number) if type(number := job.get("user_id", "")) is int else number
    return user if isinstance(user, str) else None


def _text(value: Any) -> str:
    """A text; "" if there is none, which Slurm may write as a word."""
    return "" if value == "(null)" else str(value or "")


def _allocated(job: Mapping[str, Any]) -> str:
    """Its AllocTRES, with its GPUs, if Slurm does not count them: those of its nodes, or of its request."""
    text, details = str(job.get("tres_alloc_str") or ""), job.get("gres_detail")
    if not text or "gres/gpu=" in text:
        return text
    named = details if isinstance(details, list) else []  # empty when it has ended
    numbers = [int(number) for one in named for number in _GPUS.findall(str(one))]
    if not numbers and (nodes := _NODES.search(text)):
        asked_each = _GPUS.findall(str(job.get("tres_per_node") or ""))
        numbers = [int(number) * int(nodes[1]) for number in asked_each]
    return f"{text},gres/gpu={sum(numbers)}" if numbers else text


def _comment(value: Any) -> Mapping[str, Any]:
    # Newer versions wrap it: {"administrator", "job", "system"} in accounting, plain text in the queue.
    text = value.get("job") if isinstance(value, dict) else value
    try:
        document = json.loads(text or "")
    except (ValueError, TypeError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def integer(value: Any) -> int | None:
    """A number in either form: 5, or {"set": true, "infinite": false, "number": 5}."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _moment(value: Any) -> float | None:
    number = integer(value) or 0
    if not 0 <= number <= LATEST:
        raise ValueError("it is not a time")
    return float(number) or None
