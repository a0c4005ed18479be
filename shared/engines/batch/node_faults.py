"""Nodes of a pool that cannot run jobs: why, what to do, and which of them Slipway restarts. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from shared.core.job import plain
from shared.engines import untrusted

#: The nodes to read, and the fields of them.
FILTER = "state eq 'starttaskfailed' or state eq 'unusable' or state eq 'offline'"
SELECT = "id,state,allocationTime,startTaskInfo,errors"
#: How long nodes that fail are rebooted or replaced: a bound for a start task that always fails.
MENDED = timedelta(minutes=30)
#: The words of errors that nodes have, in front of their sentences.
START_TASK, UNUSABLE, OFFLINE = "StartTaskFailed", "NodesUnusable", "NodesOffline"
WORDS = (START_TASK, UNUSABLE, OFFLINE)
#: The most characters of an error, and of a node's id: with the rest, what a job shows of a wait.
_LONGEST, _NAME = 44, 72


def faults(nodes: Sequence[Mapping[str, Any]], until: datetime | None = None) -> tuple[str, ...]:
    """A sentence for each kind of nodes that cannot run jobs.

    `until`: for how long Slipway reboots what failed, so that no one else has to.
    """
    kinds = (
        (START_TASK, _start_task, "starttaskfailed"),
        (UNUSABLE, _unusable, "unusable"),
        (OFFLINE, _offline, "offline"),
    )
    of_kinds = (
        (word, text, [one for one in nodes if one.get("state") == state]) for word, text, state in kinds
    )
    remedy = f"what failed reboots until {until:%H:%M} UTC" if until else "reboot or remove what failed"
    return tuple(f"{word}: {text(failed, remedy)}" for word, text, failed in of_kinds if failed)


def is_mended(since: datetime | None, now: datetime) -> bool:
    """Whether Slipway still restarts nodes that fail since then."""
    return since is not None and timedelta() <= now - since < MENDED


def may_restart(node: Mapping[str, Any], now: datetime) -> bool:
    """Whether a node that failed is rebooted, or else removed: only for a while after its allocation."""
    is_young = is_mended(untrusted.moment(node.get("allocationTime")), now)
    return is_young and node.get("state") != "offline"


def _start_task(nodes: Sequence[Mapping[str, Any]], remedy: str) -> str:
    info = nodes[0].get("startTaskInfo")
    info = info if isinstance(info, Mapping) else {}
    code = untrusted.exit_code(info.get("exitCode"))
    end = f"exit code {code}" if code is not None else _code(info.get("failureInfo")) or "no exit code"
    return (
        f"the start task failed on {_count(nodes)} ({end}), billed. "
        f"Correct it; {remedy}. startup/stderr.txt of {_name(nodes)}"
    )


def _unusable(nodes: Sequence[Mapping[str, Any]], remedy: str) -> str:
    errors = nodes[0].get("errors")
    code = _code(errors[0]) if isinstance(errors, list) and errors else ""
    reason = f" ({code})" if code else ""
    return f"{_count(nodes)} cannot be used{reason}, perhaps billed; {remedy}: {_name(nodes)}"


def _offline(nodes: Sequence[Mapping[str, Any]], remedy: str) -> str:
    end = "`az batch node scheduling enable` ends that"
    return f"{_count(nodes)} offline, billed: its scheduling was disabled; {end}: {_name(nodes)}"


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
