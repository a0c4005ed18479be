"""The invariants of jobs that people change while they wait: a pause and a priority count at once."""

from __future__ import annotations

from collections.abc import Iterable

from shared.core.job import Job, JobState
from tests.unit.world import World


def wrongly_changed(world: World, jobs: Iterable[Job]) -> list[str]:
    """The jobs with an attempt that a pause forbids, or whose cluster got another priority than they had."""
    results = []
    orders = {order.target.token: order for order in world.engine.orders}
    for job in jobs:
        paused, priority = False, job.priority if _is_unchanged(job) else ""
        for entry in job.history:
            if entry.note.startswith("paused by"):
                paused = True
            elif entry.note.startswith("resumed by"):
                paused = False
            elif entry.note.startswith("priority "):
                priority = entry.note.split()[1]
            elif entry.state is JobState.SUBMITTING and paused:
                results.append(f"attempt {entry.attempt} of {job.id} began while it was paused")
        order = orders.get(job.target.token) if job.target is not None else None
        properties = order.document["properties"] if order is not None else {}
        if order is not None and (properties.get("schedulingPriority") or "") != priority:
            results.append(f"the cluster of {job.id} did not get the priority {priority or 'normal'}")
        if job.state.terminal and job.paused is not None:
            results.append(f"{job.id} has ended, and is paused")
    return results


def _is_unchanged(job: Job) -> bool:
    return not any(entry.note.startswith("priority ") for entry in job.history)
