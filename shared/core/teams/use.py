"""What the jobs of a team have claimed of its quota: one frozen record a team. Pure.

A claim is written before its job's first submission, and goes after the job's end was recorded, which never
changes. Each change is guarded by the record's version, so no process, however late, can exceed the quota.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from shared.core.relations.claim import Claim
from shared.core.teams.document import Quota


class Total(NamedTuple):
    """What some claims come to."""

    jobs: int
    nodes: int
    gpus: int


class _Most(NamedTuple):
    """A quota in the order of a total; None for no limit."""

    jobs: int | None
    nodes: int | None
    gpus: int | None


@dataclass(frozen=True)
class TeamUse:
    """The claims of a team's jobs, by their ids."""

    team: str
    claims: Mapping[str, Claim]
    #: whether a job of it waits for room: a door lets no other one pass it
    has_waiting: bool = False
    #: guards the next write; "" while there is no record
    etag: str = ""

    @property
    def total(self) -> Total:
        """What its jobs have now."""
        claims = self.claims.values()
        return Total(len(claims), sum(one.nodes for one in claims), sum(one.gpus for one in claims))

    def after_ends(self, ended: Collection[str]) -> TeamUse:
        """The same after some jobs ended."""
        return replace(self, claims={job: one for job, one in self.claims.items() if job not in ended})

    def with_claims(self, waiting: Iterable[tuple[str, Claim]], quota: Quota) -> TeamUse:
        """The same with the claims of the first of these jobs, in their order, as far as the quota has room.

        None passes another, or a large job would wait for good behind small ones; except one that is larger
        than the whole quota.
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
    """What of the quota a single job exceeds, as a clause; "" where it fits an unused quota."""
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
