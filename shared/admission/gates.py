"""gates: what an accepted job passes before it is submitted, in the order that is the law. Pure.

Each gate judges one job, as its row or its record is, by what is known besides: the world of that moment. A
job waits at the first gate that holds it. A counted gate lets in those that its keeper has given something: a
seat, a claim, a slot. The keeper commits that before it is in the world.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from shared.admission.due import is_due
from shared.admission.sentences import (
    hourly_limit,
    why_after,
    why_claim,
    why_member,
    why_own_pause,
    why_paused,
    why_person,
    why_slot,
)
from shared.core.engine import Why
from shared.core.job import Job
from shared.core.ledger.entries import Active, Pause
from shared.core.pacing.wait_kinds import WaitKind
from shared.core.policy import Policy
from shared.core.relations.claim import Claim
from shared.core.teams.document import Quota

#: A job that asks to be submitted: its row, or its record.
Asking = Active | Job


@dataclass(frozen=True)
class World:
    """What a judgement goes by, besides the job itself: the facts of one moment."""

    policy: Policy
    now: datetime
    #: who paused submissions; None while they go on
    pause: Pause | None = None
    #: the jobs with a seat in their job sweep
    seats: Collection[str] = frozenset()
    #: the claims on the quotas of teams, by job
    claims: Mapping[str, Claim] = field(default_factory=dict)
    #: the jobs for which their person has no room in the team's quota
    held_back: Collection[str] = frozenset()
    #: the jobs for which there is a slot; None where no limit holds
    slots: Collection[str] | None = None
    #: by team, for words
    quotas: Mapping[str, Quota] = field(default_factory=dict)


@dataclass(frozen=True)
class Pass:
    """Nothing holds the job."""


PASS: Final = Pass()


@dataclass(frozen=True, eq=False)
class Gate:
    """One reason to wait: whether it holds a job, and what it says to people of that."""

    name: str
    holds: Callable[[Asking, World], bool]
    words: Callable[[Job, World], Why]
    #: whether it is one fact for all jobs, which is shown with each and recorded only where nothing else is
    of_all: bool = False

    def judge(self, row: Asking, world: World) -> Pass | Wait:
        """Whether it lets a job pass."""
        return Wait(self, world) if self.holds(row, world) else PASS


class Wait(NamedTuple):
    """A job waits at a gate."""

    gate: Gate
    world: World

    def why(self, job: Job) -> Why:
        """The reason, for people."""
        return self.gate.words(job, self.world)


def _is_paused(_: Asking, world: World) -> bool:
    return world.pause is not None


def _why_paused(_: Job, world: World) -> Why:
    return why_paused(world.pause) if world.pause is not None else Why("", "")


def _is_paused_alone(row: Asking, _: World) -> bool:
    return bool(row.paused)


def _why_paused_alone(job: Job, _: World) -> Why:
    return why_own_pause(job.paused) if job.paused is not None else Why("", "")


def _waits_for_jobs(row: Asking, _: World) -> bool:
    return bool(row.after if isinstance(row, Active) else row.unmet)


def _why_after(job: Job, _: World) -> Why:
    return why_after(job.unmet) or Why("", "")


def _exceeds_rate(row: Asking, world: World) -> bool:
    return row.wait is WaitKind.SLOT and not is_due(world.policy, row, world.now)


def _is_early(row: Asking, world: World) -> bool:
    return row.wait is not WaitKind.SLOT and not is_due(world.policy, row, world.now)


def _why_early(job: Job, _: World) -> Why:
    """As its record has it: who set the time said why."""
    if (waits := job.waiting) is not None:
        return Why(waits.word, waits.text)
    return Why("NewAttempt", f"attempt {job.attempt} is not before {job.due.isoformat(timespec='seconds')}")


def _lacks_seat(row: Asking, world: World) -> bool:
    return row.needs_seat and _id(row) not in world.seats


def _why_member(job: Job, _: World) -> Why:
    return why_member(job.sweep) if job.sweep is not None else Why("", "")


def _has_no_claim(row: Asking, world: World) -> bool:
    """A claim that was given back since is not the one that the job waits for."""
    return row.needs_claim and not (row.claim is not None and row.claim.is_of(world.claims.get(_id(row))))


def _lacks_claim(row: Asking, world: World) -> bool:
    return _has_no_claim(row, world) and _id(row) not in world.held_back


def _is_held_back(row: Asking, world: World) -> bool:
    return _has_no_claim(row, world) and _id(row) in world.held_back


def _lacks_slot(row: Asking, world: World) -> bool:
    return world.slots is not None and _id(row) not in world.slots


def _id(row: Asking) -> str:
    return row.job_id if isinstance(row, Active) else row.id


PAUSE: Final = Gate("pause", _is_paused, _why_paused, of_all=True)
JOB_PAUSE: Final = Gate("job pause", _is_paused_alone, _why_paused_alone)
DEPENDENCY: Final = Gate("dependency", _waits_for_jobs, _why_after)
RATE: Final = Gate("rate", _exceeds_rate, lambda _, world: hourly_limit(world.policy))
TIME: Final = Gate("time", _is_early, _why_early)
SEAT: Final = Gate("seat", _lacks_seat, _why_member)
QUOTA: Final = Gate("quota", _lacks_claim, lambda job, world: why_claim(job.team, world.quotas.get(job.team)))
PERSON: Final = Gate(
    "person", _is_held_back, lambda job, world: why_person(job.team, world.quotas.get(job.team))
)
SLOT: Final = Gate("slot", _lacks_slot, lambda _, world: why_slot(world.policy))

#: The law. A place on one of several clusters would be one more, after the slot.
GATES: Final = (PAUSE, JOB_PAUSE, DEPENDENCY, RATE, TIME, SEAT, QUOTA, PERSON, SLOT)


def judge(row: Asking, world: World, begin: int = 0) -> Pass | Wait:
    """The first gate that holds a job, or that all let it pass; of the gates from a number on."""
    for gate in GATES[begin:]:
        if (verdict := gate.judge(row, world)) is not PASS:
            return verdict
    return PASS


def reason(job: Job, world: World) -> Why | None:
    """What its record says of the wait: the first gate that holds the job, of those that hold it alone.

    What holds all jobs is shown with each, from the one row that has it.
    """
    held = [gate for gate in GATES if gate.holds(job, world)]
    first = next((gate for gate in held if not gate.of_all), held[0] if held else None)
    return first.words(job, world) if first is not None else None
