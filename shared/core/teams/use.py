"""The claims of a team's jobs on its quota, and what they used: one frozen record for each team. Pure.

A claim is written before its job's first submission, and is freed after the job's end was recorded, which
never changes. The write that frees it adds the job's usage, so each job is counted once. The record's version
guards each change, so even a process that is late cannot exceed the quota.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from typing import NamedTuple

from shared.core.cost.usage import Usage, month_of
from shared.core.job import Job
from shared.core.relations.claim import Claim
from shared.core.teams import persons
from shared.core.teams.document import Quota
from shared.core.teams.persons import Persons, exceeds_person

#: Months whose usage a record keeps, and waiting jobs that it names.
_MONTHS, MOST_NAMED = 13, 200
#: The most claims, loans and lent claims of a record: an entity of a table has a mebibyte.
MOST = 5_000
#: How many limits of a quota, the first ones, apply at once.
_AT_ONCE = 3
_NOTHING = Usage()


class Total(NamedTuple):
    """The sum of some claims; GPU-hours and cost are those of a month, with the usage of ended jobs."""

    jobs: int
    nodes: int
    gpus: int
    gpu_hours: float = 0.0
    cost: float = 0.0


_NONE = Total(0, 0, 0)


class Lent(NamedTuple):
    """The part of a quota that a job of another team has."""

    team: str
    claim: Claim


class Used(NamedTuple):
    """The usage of a job so far that counts by the month."""

    gpu_hours: float
    cost: float


class _Limit(NamedTuple):
    """A limit of a quota on one part of a total, and its words; None for no limit."""

    most: float | None
    name: str
    exceeded: str
    is_monthly: bool = False


@dataclass(frozen=True)
class TeamUse:
    """The claims of a team's jobs, by their ids, and the usage of its ended jobs."""

    team: str
    claims: Mapping[str, Claim]
    #: the jobs that wait for room, the next one first, 200 at most; while there is one, no door lets a new
    #: job overtake it
    waiting: tuple[str, ...] = ()
    #: by month, the newest last
    months: Mapping[str, Usage] = field(default_factory=dict)
    #: the claims on another team's quota: job → that team, the oldest loan first
    loans: Mapping[str, str] = field(default_factory=dict)
    #: the parts of this quota that jobs of other teams have, the oldest loan first
    lent: Mapping[str, Lent] = field(default_factory=dict)
    #: jobs that ran, gave their claim back and have not ended → their usage: their ends are still counted
    returned: Mapping[str, Used] = field(default_factory=dict)
    #: the jobs that wait for others of the same person → who that is, 200 at most; nothing is kept for them
    held_back: Mapping[str, str] = field(default_factory=dict)
    #: guards the next write; "" if there is no record
    etag: str = ""

    def total(self, month: str) -> Total:
        """The sum of all claims, with the month's usage of ended jobs."""
        used = self.used(month)
        return reduce(plus, self.claims.values(), Total(0, 0, 0, used.gpu_hours, used.cost))

    def used(self, month: str) -> Used:
        """What jobs have used in a month, without what those at work may still use."""
        ended = self.months.get(month, _NOTHING)
        hours = ended.gpu_hours + sum(one.gpu_hours for one in self.returned.values())
        return Used(hours, ended.cost + sum(one.cost for one in self.returned.values()))

    def held(self, month: str) -> Total:
        """The total that counts against the quota: without borrowed claims, with lent ones."""
        total = self.total(month)
        for job in self.loans:
            total = less(total, self.claims[job])
        for one in self.lent.values():
            total = more(total, one.claim)
        return total

    @property
    def size(self) -> int:
        """How much of its row it needs, of `MOST`. For a loan, both teams' rows name the other team."""
        return len(self.claims) + len(self.loans) + 2 * len(self.lent) + len(self.returned)

    def spent(self, month: str) -> float:
        """The cost of the jobs that ended in a month."""
        return self.months.get(month, _NOTHING).cost

    def after_ends(self, ended: Iterable[Job]) -> TeamUse:
        """The record after some jobs ended: without their claims, and with their usage."""
        claims, returned, months = dict(self.claims), dict(self.returned), dict(self.months)
        for job in ended:
            is_counted = claims.pop(job.id, None) is not None
            is_counted = returned.pop(job.id, None) is not None or is_counted
            if is_counted and job.ended is not None:
                month = _month_of_end(job, job.ended)
                months[month] = months.get(month, _NOTHING).plus(job.usage)
        newest = sorted(months)[-_MONTHS:]
        counted = {month: months[month] for month in newest}
        return replace(self, claims=claims, loans=self._loans_of(claims), returned=returned, months=counted)

    def after_returns(self, jobs: Iterable[Job]) -> TeamUse:
        """The record after some jobs, which have not ended, gave their claims back."""
        claims, returned = dict(self.claims), dict(self.returned)
        for job in jobs:
            mine = claims.get(job.id)
            if mine is not None and job.claim is not None and job.claim.returns > mine.returns:
                del claims[job.id]
                if job.ran_before:
                    returned[job.id] = Used(job.usage.gpu_hours, job.usage.cost)
        return replace(self, claims=claims, loans=self._loans_of(claims), returned=returned)

    def without_absent(self, absent: frozenset[str]) -> TeamUse:
        """The record without the claims of jobs that do not exist, which used nothing."""
        if absent.isdisjoint(self.claims) and absent.isdisjoint(self.returned):
            return self
        claims = {job: one for job, one in self.claims.items() if job not in absent}
        returned = {job: one for job, one in self.returned.items() if job not in absent}
        return replace(self, claims=claims, loans=self._loans_of(claims), returned=returned)

    def with_loan(self, job: str, team: str, claim: Claim) -> TeamUse:
        """The lender's record with a loan to a job of another team."""
        return replace(self, lent={**self.lent, job: Lent(team, claim)})

    def after_loans(self, jobs: Collection[str]) -> TeamUse:
        """The lender's record without the loans to these jobs of other teams."""
        return replace(self, lent={job: one for job, one in self.lent.items() if job not in jobs})

    def repaid(self, quota: Quota, month: str) -> TeamUse:
        """The record with borrowed claims moved to its own quota, the oldest first, while there is room."""
        loans, limits = dict(self.loans), _limits(quota)[:_AT_ONCE]
        total = self.held(month) if loans else _NONE
        for job in self.loans:
            after = more(total, self.claims[job])
            if not _fits(after, limits):
                break
            total = after
            del loans[job]
        return replace(self, loans=loans) if len(loans) < len(self.loans) else self

    def _loans_of(self, claims: Mapping[str, Claim]) -> Mapping[str, str]:
        return {job: lender for job, lender in self.loans.items() if job in claims}

    def with_claims(self, waiting: Iterable[tuple[str, Claim]], quota: Quota, month: str) -> TeamUse:
        """The record with claims of the first of these jobs, in order, while the quota has room.

        No job overtakes another, because a large one would wait for ever behind small ones. The exception is
        a job that exceeds the whole quota, and one that waits for others of its person, which keeps only
        that person's waiting. Those that are held back already stay so.
        """
        each, held_back = Persons(self.claims, quota, self.held_back.values()), dict(self.held_back)
        claims, behind, limits = dict(self.claims), list[str](), _limits(quota)
        total, room = self.held(month), MOST - self.size
        for job, claim in waiting:
            if job in claims or _exceeds(claim, quota, limits):
                continue
            if each.hold_back(claim):
                held_back |= {job: claim.person} if len(held_back) < MOST_NAMED else {}
                continue
            after = plus(total, claim)
            if not behind and room > 0 and _fits(after, limits):
                claims[job], total, room = claim, after, room - 1
                each.give(claim)
            elif len(behind) < MOST_NAMED:
                behind.append(job)
            else:
                break
        return replace(self, claims=claims, waiting=tuple(behind), held_back=held_back)


def _month_of_end(job: Job, ended: datetime) -> str:
    """The month that an end counts in: not before the job came, nor after its end was recorded.

    A cluster's wrong clock may say so; then the job's usage would be missing in every month of the quota.
    """
    recorded = job.history[-1].at if job.history else ended
    return month_of(max(job.created, min(ended, recorded)))


def exceeds(claim: Claim, quota: Quota) -> str:
    """The limit of an unused quota that a single job exceeds, as a clause; "" if it fits."""
    return _exceeds(claim, quota, _limits(quota))


def _exceeds(claim: Claim, quota: Quota, limits: tuple[_Limit, ...]) -> str:
    if quota.needs_price and claim.cost is None:
        return "the team has a budget, and the price of the job's cluster is not known"
    for amount, limit in zip(plus(_NONE, claim), limits, strict=True):
        if limit.most is not None and amount > limit.most:
            return limit.exceeded.format(_number(amount), _number(limit.most))
    if quota.job_cost is not None and (claim.cost or 0.0) > quota.job_cost:
        most = _number(quota.job_cost)
        return (
            f"it may cost {_number(claim.cost or 0.0)} if it runs as long as it may, and {most} are allowed"
        )
    return exceeds_person(claim, quota)


def described(quota: Quota) -> str:
    """The quota in a few words."""
    at_once = ", ".join(_named(quota, is_monthly=False))
    monthly = " and ".join(_named(quota, is_monthly=True))
    parts = [f"{at_once} at once" if at_once else "", f"{monthly} a month" if monthly else ""]
    parts += [f"{persons.described(one)} at once for each person"] if (one := quota.per_person) else []
    return "; ".join(filter(None, parts)) or "without limit"


def _named(quota: Quota, *, is_monthly: bool) -> list[str]:
    named = (one for one in _limits(quota) if one.is_monthly is is_monthly)
    return [one.name.format(_number(one.most)) for one in named if one.most is not None]


def _number(amount: float) -> str:
    """The number in the form that people write, with at most two decimals."""
    return f"{amount:,.2f}".rstrip("0").rstrip(".")


def plus(total: Total, claim: Claim) -> Total:
    """The total with another claim."""
    return Total(
        total.jobs + 1,
        total.nodes + claim.nodes,
        total.gpus + claim.gpus,
        total.gpu_hours + claim.gpu_hours,
        total.cost + (claim.cost or 0.0),
    )


def _fits(total: Total, limits: tuple[_Limit, ...]) -> bool:
    # strict=False: a loan has only the first limits, those that apply at once.
    return all(limit.most is None or one <= limit.most for one, limit in zip(total, limits, strict=False))


def more(total: Total, claim: Claim) -> Total:
    """The total with another claim, without its monthly parts."""
    return total._replace(jobs=total.jobs + 1, nodes=total.nodes + claim.nodes, gpus=total.gpus + claim.gpus)


def less(total: Total, claim: Claim) -> Total:
    """The total without a claim, except its monthly parts."""
    return total._replace(jobs=total.jobs - 1, nodes=total.nodes - claim.nodes, gpus=total.gpus - claim.gpus)


def has_room(total: Total, quota: Quota, *, at_once: bool = False) -> bool:
    """Whether a quota allows a total; `at_once`: without the monthly limits."""
    limits = _limits(quota)
    return _fits(total, limits[:_AT_ONCE] if at_once else limits)


def by_month(total: Total, quota: Quota) -> bool:
    """Whether the monthly limits of a quota allow a total."""
    return _fits(Total(0, 0, 0, total.gpu_hours, total.cost), _limits(quota))


def _limits(quota: Quota) -> tuple[_Limit, ...]:
    """The limits of a quota, in the order of the members of a total."""
    hours = "it may need {} GPU-hours, and the quota of a month is {}"
    money = "it may cost {}, and the budget of a month is {}"
    return (
        _limit_at_once(quota.jobs, "jobs"),
        _limit_at_once(quota.nodes, "nodes"),
        _limit_at_once(quota.gpus, "GPUs"),
        _Limit(quota.gpu_hours, "{} GPU-hours", hours, is_monthly=True),
        _Limit(quota.budget, "a budget of {}", money, is_monthly=True),
    )


def _limit_at_once(most: int | None, name: str) -> _Limit:
    return _Limit(most, f"{{}} {name}", f"it may need {{}} {name}, and the quota is {{}}")
