"""The invariants of jobs that wait for others: none begins too early or is cancelled without cause."""

from __future__ import annotations

from collections.abc import Iterable

from shared.core.job import Dependency, Job, JobState, Reason


def wrongly_ordered(jobs: Iterable[Job]) -> list[str]:
    """The jobs that were submitted before their dependencies held, or cancelled although these could hold."""
    by_id = {job.id: job for job in jobs}
    results = []
    for job in by_id.values():
        others = [(one, by_id[one.job]) for one in job.dependencies]
        begins = [entry.at for entry in job.history if entry.state is JobState.SUBMITTING]
        for one, other in others:
            ended = other.state.terminal and _holds(one, other)
            if begins and not (ended and other.history[-1].at <= begins[0]):
                results.append(f"{job.id} was submitted before {other.id} had ended as it has to")
        broken = any(other.state.terminal and not _holds(one, other) for one, other in others)
        if job.reason is Reason.DEPENDENCY and not broken:
            results.append(f"{job.id} was cancelled although it could still have run")
    return results


def _holds(one: Dependency, other: Job) -> bool:
    return (other.state is JobState.SUCCEEDED) is one.success
