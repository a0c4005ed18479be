"""The claims of a team's jobs on its quota, and what they used: one frozen record for each team. Pure.

A claim is written before its job's first submission, and is freed after the job's end was recorded, which
never changes. The write that frees it adds what the job used, so each job is counted once. The record's
version guards each change, so no process can exceed the quota, however late it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import NamedTuple

from shared.core.cost.usage import Usage, month_of
from shared.core.job import Job
from shared.core.relations.claim import Claim
from shared.core.teams.document import Quota

#: Months whose usage a record keeps, and waiting jobs that it names.
_MONTHS, _NAMED = 13, 200
_NOTHING = Usage()


class Total(NamedTuple):
    """The sum of some claims; GPU-hours and cost are those of a month, with what ended jobs used in it."""

    jobs: int
    nodes: int
    gpus: int
    gpu_hours: float = 0.0
    cost: float = 0.0


_NONE = Total(0, 0, 0)


class _Limit(NamedTuple):
    """A limit of a quota on one part of a total, and its words; None for no limit."""

    most: float | None
    name: str
    exceeded: str
    is_monthly: bool = False


@dataclass(frozen=True)
class TeamUse:
    """The claims of a team's jobs, by their ids, and what its ended jobs have used."""

    team: str
    claims: Mapping[str, Claim]
    #: the jobs that wait for room, the next one first, 200 at most; while there is one, no door lets a new
    #: job overtake it
    waiting: tuple[str, ...] = ()
    #: by month, the newest last
    months: Mapping[str, Usage] = field(default_factory=dict)
    #: guards the next write; "" while there is no record
    etag: str = ""

    def total(self, month: str) -> Total:
        """The sum of all claims, with what ended jobs used in the month."""
        used = self.months.get(month, _NOTHING)
        return reduce(_plus, self.claims.values(), Total(0, 0, 0, used.gpu_hours, used.cost))

    def spent(self, month: str) -> float:
        """What the jobs have cost that ended in a month."""
        return self.months.get(month, _NOTHING).cost

    def after_ends(self, ended: Iterable[Job]) -> TeamUse:
        """The record after some jobs ended: without their claims, and with what they used."""
        claims, months = dict(self.claims), dict(self.months)
        for job in ended:
            if claims.pop(job.id, None) is not None and job.ended is not None:
                month = month_of(job.ended)
                months[month] = months.get(month, _NOTHING).plus(job.usage)
        newest = sorted(months)[-_MONTHS:]
        return replace(self, claims=claims, months={month: months[month] for month in newest})

    def with_claims(self, waiting: Iterable[tuple[str, Claim]], quota: Quota, month: str) -> TeamUse:
        """The record with claims of the first of these jobs, in order, as far as the quota has room.

        No job overtakes another, because a large one would wait for ever behind small ones. The exception is
        a job that exceeds the whole quota.
        """
        claims, behind, limits = dict(self.claims), list[str](), _limits(quota)
        total = self.total(month)
        for job, claim in waiting:
            if job in claims or _exceeds(claim, quota, limits):
                continue
            after = _plus(total, claim)
            if not behind and _fits(after, limits):
                claims[job], total = claim, after
            elif len(behind) < _NAMED:
                behind.append(job)
            else:
                break
        return replace(self, claims=claims, waiting=tuple(behind))


def exceeds(claim: Claim, quota: Quota) -> str:
    """What a single job exceeds of an unused quota, as a clause; "" if it fits."""
    return _exceeds(claim, quota, _limits(quota))


def _exceeds(claim: Claim, quota: Quota, limits: tuple[_Limit, ...]) -> str:
    if quota.needs_price and claim.cost is None:
        return "the team has a budget, and the price of the job's cluster is not known"
    for amount, limit in zip(_plus(_NONE, claim), limits, strict=True):
        if limit.most is not None and amount > limit.most:
            return limit.exceeded.format(_number(amount), _number(limit.most))
    if quota.job_cost is not None and (claim.cost or 0.0) > quota.job_cost:
        most = _number(quota.job_cost)
        return (
            f"it may cost {_number(claim.cost or 0.0)} if it runs as long as it may, and {most} are allowed"
        )
    return ""


def described(quota: Quota) -> str:
    """The quota in a few words."""
    at_once = ", ".join(_named(quota, is_monthly=False))
    monthly = " and ".join(_named(quota, is_monthly=True))
    parts = [f"{at_once} at once" if at_once else "", f"{monthly} a month" if monthly else ""]
    return "; ".join(filter(None, parts)) or "without limit"


def _named(quota: Quota, *, is_monthly: bool) -> list[str]:
    named = (one for one in _limits(quota) if one.is_monthly is is_monthly)
    return [one.name.format(_number(one.most)) for one in named if one.most is not None]


def _number(amount: float) -> str:
    """As people write it, with at most two decimals."""
    return f"{amount:,.2f}".rstrip("0").rstrip(".")


def _plus(total: Total, claim: Claim) -> Total:
    return Total(
        total.jobs + 1,
        total.nodes + claim.nodes,
        total.gpus + claim.gpus,
        total.gpu_hours + claim.gpu_hours,
        total.cost + (claim.cost or 0.0),
    )


def _fits(total: Total, limits: tuple[_Limit, ...]) -> bool:
    return all(limit.most is None or one <= limit.most for one, limit in zip(total, limits, strict=True))


def _limits(quota: Quota) -> tuple[_Limit, ...]:
    """In the order of a total."""
    hours = "it may need {} GPU-hours, and the quota of a month is {}"
    money = "it may cost {}, and the budget of a month is {}"
    return (
        _at_once(quota.jobs, "jobs"),
        _at_once(quota.nodes, "nodes"),
        _at_once(quota.gpus, "GPUs"),
        _Limit(quota.gpu_hours, "{} GPU-hours", hours, is_monthly=True),
        _Limit(quota.budget, "a budget of {}", money, is_monthly=True),
    )


def _at_once(most: int | None, name: str) -> _Limit:
    return _Limit(most, f"{{}} {name}", f"it may need {{}} {name}, and the quota is {{}}")
