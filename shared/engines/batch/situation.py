"""What a task is in, as far as it matters for its observation: its pool and its Batch job. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.core.engine import ClusterView, Observation
from shared.core.errors import Misconfigured
from shared.core.facts import Allotted
from shared.core.job import JobState, Reason
from shared.engines.batch.pools import why
from shared.engines.batch.queues import disabled, is_over
from shared.engines.batch.tasks import Listed
from shared.engines.batch.translation import nodes_of, observation, was_taken_back
from shared.engines.recorded import NODE_ENDED, is_asked, placed, recorded
from shared.engines.runs import UNPROVEN

_ENDED = "its Batch job was terminated by someone else"


@dataclass(frozen=True)
class Situation:
    """The pool, or why it is refused; the states of the Batch jobs. Empty for what is not known."""

    view: ClusterView | Misconfigured | None = None
    states: Mapping[str, str] = field(default_factory=dict)


def unfinished(task: Listed, situation: Situation) -> Observation:
    """The observation of a task that has not ended.

    One that waits in a Batch job that was terminated never starts: another attempt takes its place.
    """
    observed = observation(task.task)._replace(handle=task.handle, allotted=_allotted(situation.view))
    if task.task.get("state") != "active":
        return observed
    if is_over(task.queue, situation.states):
        failed = observed._replace(state=JobState.FAILED, reason=Reason.INFRASTRUCTURE, unstarted=True)
        return failed._replace(message=_ENDED)
    reason = disabled(task.queue, situation.states) or why(
        nodes_of(task.task), situation.view, taken_back=was_taken_back(task.task)
    )
    return observed._replace(why=reason)


def ended(task: Listed, record: Mapping[str, Any] | None, situation: Situation) -> Observation:
    """The observation of a task that has ended. One that ended with its Batch job was not cancelled."""
    observed = observation(task.task, record)._replace(handle=task.handle)
    if observed.state is JobState.CANCELLED and is_over(task.queue, situation.states):
        return observed._replace(state=JobState.FAILED, reason=Reason.INFRASTRUCTURE, message=_ENDED)
    return observed


def by_record(record: Mapping[str, Any] | None, segment: str) -> Observation | None:
    """How an attempt ended whose task is gone; None if its record does not prove an end."""
    if record is None or UNPROVEN in record or record.get("state") != "ended":
        return None
    end = recorded(record)
    if is_asked(record):  # a signal does not show its sender
        end = end._replace(state=JobState.FAILED, reason=Reason.INFRASTRUCTURE, message=NODE_ENDED)
    return placed(end, record, segment)


def _allotted(view: ClusterView | Misconfigured | None) -> Allotted | None:
    """What a task has of its node, where tasks share one; None if that is not known."""
    if not isinstance(view, ClusterView) or view.facts.allotted.part in (None, 1.0):
        return None
    part, gpus = view.facts.allotted.part or 1.0, view.facts.gpus
    return Allotted(None if gpus is None else math.ceil(round(gpus * part, 6)), part)
