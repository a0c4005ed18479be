"""persons: how much of a team's quota one person may have at once, and who has as much. Pure.

A person is the caller who asked for a job. Jobs that came by a door without a caller (drops, messages of the
queue, a key without a name) are of one person for each door.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from shared.core.relations.claim import Claim
from shared.core.teams.document import PersonQuota, Quota


def person_of(source: str) -> str:
    """Who asked for a job, as claims have it: short, as a team's row has it for each of thousands."""
    return hashlib.sha256(source.encode(errors="backslashreplace")).hexdigest()[:12]


class _Held(NamedTuple):
    """What the jobs of a person have."""

    jobs: int = 0
    nodes: int = 0
    gpus: int = 0

    def plus(self, claim: Claim) -> _Held:
        """The same with another job."""
        return _Held(self.jobs + 1, self.nodes + claim.nodes, self.gpus + claim.gpus)

    def fits(self, quota: PersonQuota) -> bool:
        """Whether one person may have that."""
        most = (quota.jobs, quota.nodes, quota.gpus)
        return all(limit is None or one <= limit for one, limit in zip(self, most, strict=True))


class Persons:
    """What each person of a team has, while claims are given to the jobs of a line, the first ones first."""

    def __init__(self, claims: Mapping[str, Claim], quota: Quota, waiting: Iterable[str] = ()) -> None:
        self._most = quota.per_person
        #: the persons with a job that waits for their own others: their later ones do not pass it
        self._waiting = set(waiting)
        self._held: dict[str, _Held] = defaultdict(_Held)
        for claim in claims.values() if self._most is not None else ():
            self.give(claim)

    def hold_back(self, claim: Claim) -> bool:
        """Whether a job waits for others of its person; then later ones of that person do, too."""
        if self._most is None or not claim.person:
            return False
        if claim.person in self._waiting or not self._held[claim.person].plus(claim).fits(self._most):
            self._waiting.add(claim.person)
            return True
        return False

    def give(self, claim: Claim) -> None:
        """Count the claim of one more job."""
        self._held[claim.person] = self._held[claim.person].plus(claim)


def exceeds_person(claim: Claim, quota: Quota) -> str:
    """Why one person may not have a single job, as a clause; "" if they may."""
    if quota.per_person is None or _Held().plus(claim).fits(quota.per_person):
        return ""
    gpus = f" and {claim.gpus} GPUs" if claim.gpus else ""
    return f"it may need {claim.nodes} nodes{gpus}, and each person may have {described(quota.per_person)}"


def described(quota: PersonQuota) -> str:
    """What one person may have at once, in a few words."""
    parts = [(quota.jobs, "jobs"), (quota.nodes, "nodes"), (quota.gpus, "GPUs")]
    return ", ".join(f"{most} {name}" for most, name in parts if most is not None) or "any number of jobs"
