"""rows: reads and writes the record of a team's claims, and reads the jobs that it names.

A change that ends a loan changes the lender's record in the same transaction, so no crash tears one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from shared.admission.active import active_jobs
from shared.admission.line import in_line
from shared.core.cost.usage import month_of
from shared.core.each import each
from shared.core.errors import Unreadable
from shared.core.job import Job
from shared.core.ledger.entries import Active
from shared.core.ledger.ledger import Ledger
from shared.core.ports import Ports
from shared.core.relations.claim import Claim
from shared.core.teams.document import Quota
from shared.core.teams.loans import Requests
from shared.core.teams.use import TeamUse
from shared.lifecycle.current_teams import current_teams
from shared.lifecycle.teams.figures import publish, publish_others, warn_of_budget
from shared.lifecycle.waiting.dependents import ended_jobs, outcomes_of

log = logging.getLogger(__name__)

#: Tries to write a record that other processes write, too.
WRITES = 5
_NO_LIMIT = Quota()

#: The active jobs by their ids, after a team's record was read; None where each is read by itself.
CurrentJobs: TypeAlias = Mapping[str, Active] | None
#: So many records are read one by one; and of more, one for so many rows of a range query.
_FEW, _ROWS_A_READ = 64, 5


class PassJobs(NamedTuple):
    """What a pass knows of jobs: those that are active, and how often some of them gave a claim back."""

    active: Collection[str] = frozenset()
    returns: Mapping[str, int] = {}
    #: those that may have ended since
    moved: Collection[str] = frozenset()


def requests_of(rows: Iterable[Active]) -> Requests:
    """The claims that jobs wait for, the first in line first."""
    return [(row.job_id, row.claim) for row in in_line(rows) if row.claim is not None]


class Plan(NamedTuple):
    """A team's record as it was read, without what is over, and with new claims that are not checked yet."""

    use: TeamUse
    released: TeamUse
    after: TeamUse
    #: the claims that its jobs wait for, the first in line first
    requests: Requests

    @property
    def new(self) -> dict[str, Claim]:
        """The claims that jobs would get."""
        return {job: one for job, one in self.after.claims.items() if job not in self.released.claims}


async def use_of(ports: Ports, team: str) -> TeamUse:
    """A team's record. Without one, the claims of its jobs at work are counted, by a range query a shard.

    That is before its first job; or an operator deleted a damaged record.
    """
    use = await ports.teams.use(team)
    if use.etag:
        return use
    at_work = (row for row in await active_jobs(ports.ledger) if row.team == team and not row.needs_claim)
    return replace(use, claims={row.job_id: row.claim for row in at_work if row.claim is not None})


async def planned(ports: Ports, team: str, requests: Requests, of_pass: PassJobs) -> Plan:
    """Read a team's record, and plan what is freed, repaid and given. Raises SlipwayError."""
    quota, use = await quota_of(ports, team), await use_of(ports, team)
    month, released = month_of(ports.clock()), (await _released(ports, use, of_pass))
    # Who is held back is found anew: a pass knows all jobs that wait.
    released = replace(released.repaid(quota, month), held_back={})
    return Plan(use, released, released.with_claims(requests, quota, month), requests)


async def brought_on(
    ports: Ports,
    team: str,
    requests: Requests,
    of_pass: PassJobs,
    plan: Plan | None = None,
    current: CurrentJobs = None,
) -> TeamUse:
    """Free the claims of jobs that ended or gave theirs back, repay loans, and give the next jobs claims.

    `plan` is the first try, and `current` is younger than that. Raises SlipwayError.
    """
    quota = await quota_of(ports, team)
    for _ in range(WRITES):
        plan = plan or await planned(ports, team, requests, of_pass)
        while old := await outdated(ports.ledger, plan.new, current):
            requests = [one for one in requests if one[0] not in old]
            after = plan.released.with_claims(requests, quota, month_of(ports.clock()))
            plan = plan._replace(after=after)
        if (stored := await written(ports, plan.use, plan.after, quota)) is not None:
            return stored
        latest, plan, current = plan.use, None, None
    return latest


async def still_active(ports: Ports, job_ids: Collection[str]) -> tuple[str, ...]:
    """Those of the jobs that have not ended, in the same order."""
    ended = {job.id for job in await ended_jobs(ports, job_ids)}
    return tuple(job_id for job_id in job_ids if job_id not in ended)


async def _released(ports: Ports, use: TeamUse, of_pass: PassJobs) -> TeamUse:
    named = {*use.claims, *use.returned}.difference(of_pass.active)
    released = await without_ends(ports, use, named)
    mine = released.claims
    again = [job for job, returns in of_pass.returns.items() if job in mine and returns > mine[job].returns]
    if not again:
        return released
    jobs = await asyncio.gather(*(job_of(ports, job_id) for job_id in again))
    return released.after_returns(job for job in jobs if job is not None and not job.state.terminal)


async def without_ends(ports: Ports, use: TeamUse, named: Collection[str]) -> TeamUse:
    """The record after the ends of those of the jobs that have ended.

    A job that does not exist, as after a table was restored in part, never ends: nothing else frees a claim.
    """
    ended, absent = await outcomes_of(ports, named)
    return use.after_ends(ended).without_absent(absent)


async def written(ports: Ports, use: TeamUse, after: TeamUse, quota: Quota) -> TeamUse | None:
    """The record after a change, which is published; None where another process wrote meanwhile."""
    warn_of_budget(ports, use, after, quota)
    is_stored = after == use and (use.etag or not use.claims)
    stored = use if is_stored else await _write(ports, use, after)
    if stored is not None:
        publish(ports, stored, quota)
    return stored


async def _write(ports: Ports, use: TeamUse, after: TeamUse) -> TeamUse | None:
    """Write a record, and those of the lenders of loans that are over."""
    over = {job: lender for job, lender in use.loans.items() if job not in after.loans}
    if not over:
        return await ports.teams.put_use(after)
    lenders = await asyncio.gather(*map(ports.teams.use, sorted({*over.values()})))
    paid = [one.after_loans(over) for one in lenders if not one.lent.keys().isdisjoint(over)]
    stored = await ports.teams.put_uses([after, *paid])
    if stored is None:
        return None
    await publish_others(ports, stored[1:])
    return stored[0]


async def current_jobs(ports: Ports, plans: Iterable[Plan], active: int) -> CurrentJobs:
    """The active jobs by their ids, by one range query a shard, where that costs less than reads.

    `active`: how many of them there are about.
    """
    if sum(len(plan.new) for plan in plans) <= max(_FEW, active // _ROWS_A_READ):
        return None
    return {row.job_id: row for row in await active_jobs(ports.ledger)}


async def outdated(ledger: Ledger, claims: Mapping[str, Claim], current: CurrentJobs = None) -> set[str]:
    """Those of the jobs that do not wait for these claims any more.

    A claim of a job that has ended would be counted again. So after the record of claims is read, and before
    it is written, each job that gets one is read: what it waited for may be old by then. `current` spares it.
    """
    if current is not None:
        return {job_id for job_id, claim in claims.items() if not _waits_for(claim, current.get(job_id))}

    async def is_outdated(job_id: str) -> bool:
        try:
            stored = await ledger.get(job_id)
        except Unreadable:
            return True
        return not _waits_for(claims[job_id], stored.job if stored is not None else None)

    ids = sorted(claims)
    answers = await each(ids, is_outdated)
    return {job_id for job_id, is_old in zip(ids, answers, strict=True) if is_old}


def _waits_for(claim: Claim, job: Active | Job | None) -> bool:
    if isinstance(job, Active) and not job.is_whole:
        return False  # it is never submitted
    return job is not None and job.needs_claim and claim.is_of(job.claim)


async def job_of(ports: Ports, job_id: str) -> Job | None:
    """A job by its id; None where there is none, or it cannot be read."""
    try:
        stored = await ports.ledger.get(job_id)
    except Unreadable:
        return None
    return stored.job if stored is not None else None


async def quota_of(ports: Ports, team: str) -> Quota:
    """The team's current quota, which may be without limits."""
    one = (await current_teams(ports)).teams.get(team)
    return one.quota if one is not None and one.quota is not None else _NO_LIMIT
