"""Decides which of the jobs with one name is the attempt, and what to do with the others. Pure.

Every submission is held, and may have created several jobs: an answer was lost, a worker slept. No job runs
before it is released, and only one is: the one that is no longer held, else the one with the lowest number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.engines.recorded import IDLE
from shared.engines.slurm.wire.dialect import Copy


@dataclass(frozen=True)
class Verdict:
    """The decision. `copy` is the attempt; None if there is no copy."""

    copy: Copy | None
    release: bool = False
    #: the explicit priority to set
    priority: int | None = None
    surplus: tuple[Copy, ...] = ()


@dataclass(frozen=True)
class Settled:
    """A job from a list, and the life of the controller at that time (`SlurmJobs.since`)."""

    copy: Copy
    since: int

    def is_still(self, now: Copy) -> bool:
        """Whether the job with that number is still the same: a requeue changes its time."""
        copy = self.copy
        same = (now.name, now.token) == (copy.name, copy.token)
        return same and (now.submitted == copy.submitted or now.restarts > copy.restarts)


def judge(copies: Sequence[Copy], now: float, settle: float) -> Verdict:
    """Decide on the copies of one attempt, `now` in Unix time. After `settle` seconds a job is durable."""
    if not copies:
        return Verdict(None)
    ordered = sorted(copies, key=lambda copy: copy.id)
    waiting = [copy for copy in ordered if copy.held]
    begun = [copy for copy in ordered if not copy.held]
    if not begun:
        chosen = waiting[0]
        return Verdict(chosen, release=now - chosen.submitted >= settle, surplus=tuple(waiting[1:]))
    active = [copy for copy in begun if copy.code not in IDLE]
    chosen = (active or begun)[0]
    differs = chosen.states == {"PENDING"} and chosen.marked_priority != chosen.priority
    return Verdict(chosen, priority=chosen.marked_priority if differs else None, surplus=tuple(waiting))
