"""The invariants of a cluster's model: no job ran twice at once or finished twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from shared.core.job import Job, JobState, Reason


class Model(Protocol):
    """What models of schedulers record of the attempts on their nodes, by name."""

    began: list[str]
    finished: list[str]
    violations: list[str]

    @property
    def alive(self) -> Mapping[int, str]:
        """Number of a run → the name of the attempt whose processes live."""


def wrongly_run(
    model: Model, jobs: Sequence[Job], *, started: int | None, rejects: int, cancels: bool
) -> list[str]:
    """Violations of: every job that was not cancelled finished, and at most `rejects` are invalid."""
    result = list(model.violations)
    ends = Counter(map(attempts_of, model.finished))
    result += [f"{name} ran {n} times to its end" for name, n in ends.items() if n > 1]
    result += [f"{name} is left on the nodes" for name in model.alive.values()]
    if started is not None and len(set(model.began)) > started:
        result.append(f"{sorted(set(model.began))} began, expected {started} attempts")
    invalid = [job.id for job in jobs if job.reason is Reason.INVALID]
    if len(invalid) > rejects:
        result.append(f"{invalid} are rejected, expected {rejects}")
    for job in jobs:
        ran = job.target is not None and attempts_of(job.target.name) in ends
        if ran is not (job.state is JobState.SUCCEEDED):
            result.append(f"{job.id} is {job.state}, and {'ran' if ran else 'never ran'} to its end")
        expected = cancels or job.reason in (Reason.DEPENDENCY, Reason.INVALID)
        if job.state is not JobState.SUCCEEDED and not expected:
            result.append(f"{job.id} is {job.state}: {job.message}")
    return result


def attempts_of(name: str) -> str:
    """The part of their names that all attempts of a job share."""
    return name.rpartition("-")[0]
