"""dependency: a condition of a job on the end of another one. Pure.

The other job is named by its id, which exists before the one that waits, so no circle can form.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from shared.core.relations.contents import FrozenModel
from shared.core.states import JobState

#: The word of a job that waits for others.
WAITS_FOR_JOBS = "Dependency"


class Dependency(FrozenModel):
    """Another job, and how it has to end: by success, or otherwise."""

    job: str
    #: what it is called, for people
    name: str
    success: bool = True
    #: whether it has ended as required; an end never changes
    met: bool = False

    def holds(self, end: JobState) -> bool:
        """Whether the condition holds after this end of the other job."""
        return (end is JobState.SUCCEEDED) is self.success

    def __str__(self) -> str:
        return f"{self.name} ({self.job})"


class Judgement(NamedTuple):
    """The dependencies as they are after some ends, and the first that can no longer be met."""

    dependencies: tuple[Dependency, ...]
    broken: Dependency | None


def judge(
    dependencies: Sequence[Dependency], ends: Mapping[str, JobState], absent: Collection[str] = ()
) -> Judgement:
    """The effect of some ended jobs, by id, on the dependencies of one job; `absent` ones have no record."""
    after, broken = [], None
    for one in dependencies:
        end = None if one.met else ends.get(one.job)
        holds = end is not None and one.holds(end)
        after.append(one.model_copy(update={"met": True}) if holds else one)
        lost = not one.met and one.job in absent
        if lost or (end is not None and not holds):
            broken = broken or one
    return Judgement(tuple(after), broken)


def sentence(unmet: Sequence[Dependency]) -> str:
    """What a job waits for, in a sentence; at least one dependency is not met."""
    first, *others = unmet
    how = "to succeed" if first.success else "to end without success"
    more = f", and for {len(others)} more {'job' if len(others) == 1 else 'jobs'}" if others else ""
    return f"waits for {first} {how}{more}"


def verdict(broken: Dependency, end: JobState | None) -> str:
    """Why a job can never start, in a sentence; `end` is None if the other job no longer has a record."""
    if end is None:
        return f"there is no record of {broken} any more, so how it ended can never be known"
    if broken.success:
        return f"{broken} ended {end.value}, and this job runs only after its success"
    return f"{broken} succeeded, and this job runs only if it does not"
