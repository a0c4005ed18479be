"""Nodes of a pool that cannot run jobs: why, what to do, and whether a reboot may help. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from shared.core.job import plain
from shared.engines import untrusted

#: The nodes to read, and the fields of them.
FILTER = "state eq 'starttaskfailed' or state eq 'unusable'"
SELECT = "id,state,allocationTime,startTaskInfo,errors"
#: How long after its allocation a node that failed is rebooted: a bound for a start task that always fails.
_REBOOTED = timedelta(minutes=30)
#: The words of errors that nodes have, in front of their sentences.
START_TASK, UNUSABLE = "StartTaskFailed", "NodesUnusable"
#: The most characters of an error, and of a node's id: with the rest, what a job shows of a wait.
_LONGEST, _NAME = 48, 72


def faults(nodes: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """A sentence for the nodes whose start task failed, and one for those with another error."""
    started = [one for one in nodes if one.get("state") == "starttaskfailed"]
    others = [one for one in nodes if one.get("state") == "unusable"]
    kinds = ((START_TASK, _start_task, started), (UNUSABLE, _unusable, others))
    return tuple(f"{word}: {sentence(failed)}" for word, sentence, failed in kinds if failed)


def may_reboot(node: Mapping[str, Any], now: datetime) -> bool:
    """Whether a node that failed is rebooted: only for a while after its allocation."""
    allocated = untrusted.moment(node.get("allocationTime"))
    return allocated is not None and timedelta() <= now - allocated < _REBOOTED


def _start_task(nodes: Sequence[Mapping[str, Any]]) -> str:
    info = nodes[0].get("startTaskInfo")
    info = info if isinstance(info, Mapping) else {}
    code = untrusted.exit_code(info.get("exitCode"))
    end = f"exit code {code}" if code is not None else _code(info.get("failureInfo")) or "no exit code"
    return (
        f"the start task failed on {_count(nodes)} ({end}), billed and without jobs. "
        f"Correct it, then reboot or remove what failed. startup/stderr.txt of {_name(nodes)} says more"
    )


def _unusable(nodes: Sequence[Mapping[str, Any]]) -> str:
    errors = nodes[0].get("errors")
    code = _code(errors[0]) if isinstance(errors, list) and errors else ""
    reason = f" ({code})" if code else ""
    text = f"{_count(nodes)} cannot be used{reason}, perhaps billed"
    return f"{text}. Reboot or remove what failed: {_name(nodes)}"


def _name(nodes: Sequence[Mapping[str, Any]]) -> str:
    return plain(str(nodes[0].get("id") or ""), _NAME)


def _code(error: Any) -> str:
    """The code and the message of an error in a line; "" if there is none."""
    if not isinstance(error, Mapping):
        return ""
    parts = (str(error.get("code") or ""), str(error.get("message") or ""))
    return plain(": ".join(filter(None, parts)), _LONGEST)


def _count(nodes: Sequence[Mapping[str, Any]]) -> str:
    return "1 node" if len(nodes) == 1 else f"{len(nodes)} nodes"
