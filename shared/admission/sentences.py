"""words: why a job waits at a gate, in a sentence for people. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from shared.core.engine import Why
from shared.core.ledger.entries import Pause
from shared.core.policy import Policy
from shared.core.relations.claim import WAITS_FOR_PERSON, WAITS_FOR_QUOTA
from shared.core.relations.contents import OWN_PAUSE, WAITS_FOR_SEAT, Member, OwnPause
from shared.core.relations.dependency import WAITS_FOR_JOBS, Dependency, sentence
from shared.core.teams import persons
from shared.core.teams.document import Quota
from shared.core.teams.use import described

#: How the sentence begins of a job that waits for others of the same person.
OTHERS_OF_PERSON = "waits for another job of the same person to end"
#: The word for jobs that wait for the end of a pause.
PAUSED = "Paused"


def why_paused(pause: Pause) -> Why:
    """Why a job waits while submissions are paused."""
    return Why(PAUSED, f"waits: {describe_pause(pause)}")


def why_own_pause(pause: OwnPause) -> Why:
    """Why a job waits that a person has paused."""
    reason = f" ({pause.reason})" if pause.reason else ""
    return Why(OWN_PAUSE, f"waits until it is resumed: it is paused by {pause.by}{reason}")


def describe_pause(pause: Pause) -> str:
    """A clause for people: by whom submissions are paused, and why."""
    reason = f" ({pause.reason})" if pause.reason else ""
    return f"submissions are paused by {pause.by or 'an operator'}{reason}"


def why_after(dependencies: Iterable[Dependency]) -> Why | None:
    """The reason of a job that waits for others; None where nothing is left to wait for."""
    unmet = [one for one in dependencies if not one.met]
    return Why(WAITS_FOR_JOBS, sentence(unmet)) if unmet else None


def hourly_limit(policy: Policy) -> Why:
    """The reason of a job that waits because its source asked for too many."""
    limit = policy.max_jobs_per_hour
    return Why("HourlyTurn", f"waits: {limit} jobs in an hour are allowed for one caller or door")


def why_member(member: Member) -> Why:
    """The reason of a job that waits for a seat in its job sweep."""
    return Why(WAITS_FOR_SEAT, member.sentence)


def why_claim(team: str, quota: Quota | None) -> Why:
    """Why a job waits for room in its team's quota; None where the quota is not known."""
    most = f", whose jobs may have {described(quota)}" if quota is not None else ""
    return Why(WAITS_FOR_QUOTA, f"waits for its turn in the team {team}{most}")


def why_person(team: str, quota: Quota | None) -> Why:
    """Why a job waits that its person has no room for, although its team may have."""
    one = quota.per_person if quota is not None else None
    most = f", where each person may have {persons.described(one)} at once" if one is not None else ""
    return Why(WAITS_FOR_PERSON, f"{OTHERS_OF_PERSON} in the team {team}{most}")


def why_slot(policy: Policy) -> Why:
    """Why a job waits for a slot."""
    limit = policy.max_active_jobs
    return Why("ActiveLimit", f"waits for its turn: the limit on active jobs ({limit}) is reached")
