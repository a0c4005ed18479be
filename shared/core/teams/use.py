"""The claims of a team's jobs on its quota: one frozen record for each team. Pure.

A claim is written before its job's first submission, and is freed after the job's end was recorded, which
never changes. The record's version guards each change, so no process can exceed the quota, however late it
is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from shared.core.relations.claim import Claim
from shared.core.teams.document import Quota


class Total(NamedTuple):
    """The sum of some claims."""

    jobs: int
    nodes: int
    gpus: int


class _Most(NamedTuple):
    """A quota, in the same order as a total. None means no limit."""

    jobs: int | None
    nodes: int | None
    gpus: int | None


@dataclass(frozen=True)
class TeamUse:
    """The claims of a team's jobs, by their ids."""

    team: str
    claims: Mapping[str, Claim]
    #: whether a job of the team waits for room: then no door lets a new one overtake it
    has_waiting: bool = False
    #: guards the next write; "" for a new record
    etag: str = ""

    @property
    def total(self) -> Total:
        """The sum of all claims."""
        claims = self.claims.values()
        return Total(len(claims), sum(one.nodes for one in claims), sum(one.gpus for one in claims))

    def after_ends(self, ended: Collection[str]) -> TeamUse:
        """The record without the claims of jobs that have ended."""
        return replace(self, claims={job: one for job, one in self.claims.items() if job not in ended})

    def with_claims(self, waiting: Iterable[tuple[str, Claim]], quota: Quota) -> TeamUse:
        """The record with claims of the first of these jobs, in order, as far as the quota has room.

        No job overtakes another, because a large one would wait for ever behind small ones. The exception is
        a job that exceeds the whole quota.
        """
        claims, is_full = dict(self.claims), False
        for job, claim in waiting:
            if job in claims or exceeds(claim, quota):
                continue
            after = replace(self, claims={**claims, job: claim})
            if not _fits(after.total, quota):
                is_full = True
                break
            claims = dict(after.claims)
        return replace(self, claims=claims, has_waiting=is_full)


def exceeds(claim: Claim, quota: Quota) -> str:
    """What a single job exceeds of an unused quota, as a clause; "" if it fits."""
    for total, most, name in zip(Total(1, claim.nodes, claim.gpus), _most(quota), Total._fields, strict=True):
        if most is not None and total > most:
            return f"it needs {total} {name}, and the quota is {most}"
    return ""


def described(quota: Quota) -> str:
    """The quota in a few words."""
    named = zip(_most(quota), Total._fields, strict=True)
    return ", ".join(f"{most} {name}" for most, name in named if most is not None) or "no limit"


def _fits(total: Total, quota: Quota) -> bool:
    return all(most is None or one <= most for one, most in zip(total, _most(quota), strict=True))


def _most(quota: Quota) -> _Most:
    return _Most(quota.jobs, quota.nodes, quota.gpus)
