"""Which of the jobs that bear one name is the attempt, and what is to be done about the others. Pure.

Every submission is held and may have landed several times: an answer was lost, a worker slept. Nothing runs
before it is released, and one is: that which is no longer held, else the one with the lowest number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.engines.recorded import IDLE
from shared.engines.slurm.wire.dialect import Copy


@dataclass(frozen=True)
class Verdict:
    """What to do. `copy` is the attempt; None while there is no copy."""

    copy: Copy | None
    release: bool = False
    #: the explicit priority to give it
    priority: int | None = None
    surplus: tuple[Copy, ...] = ()


@dataclass(frozen=True)
class Settled:
    """A job as a list showed it, and the controller's life in which it did (`SlurmJobs.since`)."""

    copy: Copy
    since: int

    def is_still(self, now: Copy) -> bool:
        """Whether what has its number now is the same job; a requeue gives it another time."""
        then = self.copy
        same = (now.name, now.token) == (then.name, then.token)
        return same and (now.submitted == then.submitted or now.restarts > then.restarts)


def judge(copies: Sequence[Copy], now: float, settle: float) -> Verdict:
    """About the copies of one attempt, at a time (Unix) and with the seconds that make a job durable."""
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
