"""Decides which of the jobs with one name is the attempt, and what to do with the others. Pure.

Every submission is held, and may have created several jobs: an answer was lost, a worker slept. No job runs
before it is released, and only one is: the one that is no longer held, else the one with the lowest number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shared.engines.recorded import IDLE
from shared.engines.slurm.wire.dialect import Copy

#: Beyond this number of held jobs, all sightings are forgotten, and each is held a little longer.
_MOST = 20_000


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


class Sightings:
    """When a process first saw held jobs that Slurm's clock puts into the future of its own.

    By their own times they would be held for as long as the process's clock is behind.
    """

    def __init__(self) -> None:
        self._first: dict[int, float] = {}

    def aged(self, copies: Sequence[Copy], now: float) -> list[Copy]:
        """The copies, each with a time that is not ahead of now."""
        return [self._aged(copy, now) if copy.held and copy.submitted > now else copy for copy in copies]

    def _aged(self, copy: Copy, now: float) -> Copy:
        if len(self._first) >= _MOST:
            self._first.clear()
        first = min(self._first.get(copy.id, now), now)
        self._first[copy.id] = first
        return replace(copy, submitted=first)


def judge(copies: Sequence[Copy], now: float, settle: float) -> Verdict:
    """Decide on the copies of one attempt, `now` in Unix time. After `settle` seconds a job is durable."""
    if not copies:
        return Verdict(None)
    ordered = sorted((_without_past(copy, now) for copy in copies), key=lambda copy: copy.id)
    waiting = [copy for copy in ordered if copy.held]
    begun = [copy for copy in ordered if not copy.held]
    if not begun:
        chosen = waiting[0]
        return Verdict(chosen, release=now - chosen.submitted >= settle, surplus=tuple(waiting[1:]))
    active = [copy for copy in begun if copy.code not in IDLE]
    chosen = (active or begun)[0]
    differs = chosen.states == {"PENDING"} and chosen.marked_priority != chosen.priority
    return Verdict(chosen, priority=chosen.marked_priority if differs else None, surplus=tuple(waiting))


def _without_past(copy: Copy, now: float) -> Copy:
    """The copy; if it waits, without an expected start that is over."""
    is_past = "PENDING" in copy.states and (copy.started or now) <= now
    return replace(copy, started=None) if is_past else copy
