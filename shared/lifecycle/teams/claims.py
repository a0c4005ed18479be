"""claims: gives jobs of teams with a quota their claims, oldest first, and frees them after their ends.

A claim is written before the job's first submission, and is freed only after its end was recorded, which
never changes. A crash can only leave a claim that its job uses later, or that the next pass frees.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from shared.core.cost.usage import month_of
from shared.core.engine import Why
from shared.core.errors import SlipwayError
from shared.core.job import Job
from shared.core.ledger.records import Active
from shared.core.pacing.backoff import is_due
from shared.core.ports import Ports
from shared.core.relations.claim import WAITS, Claim
from shared.core.teams.document import Quota
from shared.core.teams.use import TeamUse, described
from shared.lifecycle.current_teams import current_teams
from shared.lifecycle.waiting.admit import NO_SLOT
from shared.lifecycle.waiting.dependents import ended_jobs
from shared.lifecycle.waiting.pauses import paused

log = logging.getLogger(__name__)

#: Tries to write a record that other processes write, too.
_WRITES = 5
#: How many records are read at once.
_PARALLEL = 16
_NO_LIMIT = Quota()
#: Parts of a budget whose use the log warns of.
_WARNS = (0.8, 1.0)


def why_claim(team: str, quota: Quota) -> Why:
    """Why a job waits for room in its team's quota."""
    return Why(WAITS, f"waits for its turn in the team {team}, whose jobs may have {described(quota)}")


async def claimed(
    ports: Ports, rows: Sequence[Active], ready: Iterable[Active], moved: Collection[str]
) -> list[Active]:
    """Update the claims of all teams. Returns the jobs with a claim, of those that wait for nothing else.

    `rows` are all active jobs of this pass, `moved` those that may have ended since. Costs a point read for
    each team with a quota, a write where something changed, and a read for each job that ended or gets one.
    """
    waiting: dict[str, list[Active]] = defaultdict(list)
    for row in ready:
        if _is_next(ports, row) and row.job_id not in moved:
            waiting[row.team].append(row)
    teams = {row.team for row in rows if row.claim is not None}
    active = {row.job_id for row in rows}.difference(moved)
    granted = await asyncio.gather(*(_team(ports, one, waiting[one], active) for one in sorted(teams)))
    return [row._replace(claim=None) for one in granted for row in one]


async def claim_at_door(ports: Ports, job: Job) -> bool:
    """Claim the quota for a job that was just recorded; whether it has room, and waits for nothing else.

    No job overtakes another one of its team that waits for room. Raises SlipwayError.
    """
    waits = job.waiting is not None and job.waiting.word == WAITS
    if job.claim is None or not (job.needs_claim and waits) or await paused(ports) is not None:
        return False
    quota = await _quota(ports, job.team)
    for _ in range(_WRITES):
        use = await ports.teams.use(job.team)
        if use.waiting:
            return False
        after = use.with_claims([(job.id, job.claim)], quota, month_of(ports.clock()))
        if after == use or await _outdated(ports, {job.id}):
            return job.id in use.claims
        if await ports.teams.put_use(after) is not None:
            return job.id in after.claims
    return False


async def release_claims(ports: Ports, ended: Iterable[Job]) -> None:
    """Free the claims of jobs whose end is recorded. Never raises: the timer frees the rest."""
    teams: dict[str, list[Job]] = defaultdict(list)
    for job in ended:
        if job.claim is not None and job.state.terminal:
            teams[job.team].append(job)
    for team, jobs in teams.items():
        try:
            await _release(ports, team, jobs)
        except SlipwayError as error:
            log.warning("the claims of the team %s are left to the timer: %s", team, error)


async def _release(ports: Ports, team: str, jobs: Sequence[Job]) -> None:
    quota = await _quota(ports, team)
    for _ in range(_WRITES):
        use = await ports.teams.use(team)
        if await _written(ports, use, use.after_ends(jobs), quota) is not None:
            return


def _is_next(ports: Ports, row: Active) -> bool:
    """Whether the job waits for nothing but its claim."""
    is_free = row.needs_claim and not row.after and not row.needs_seat and not row.cancel
    return is_free and is_due(row.due, ports.clock(), NO_SLOT)


async def _team(ports: Ports, team: str, waiting: list[Active], active: Collection[str]) -> list[Active]:
    """The team's jobs that have a claim after this pass. Errors are logged here."""
    oldest_first = sorted(waiting, key=lambda row: row.listed, reverse=True)
    requests = [(row.job_id, row.claim) for row in oldest_first if row.claim is not None]
    try:
        use = await _brought_on(ports, team, requests, active)
    except SlipwayError as error:
        log.warning("the jobs of the team %s are left to the next pass: %s", team, error)
        return []
    return [row for row in waiting if row.job_id in use.claims]


async def _brought_on(
    ports: Ports, team: str, requests: Sequence[tuple[str, Claim]], active: Collection[str]
) -> TeamUse:
    quota = await _quota(ports, team)
    for _ in range(_WRITES):
        use = await ports.teams.use(team)
        ended = await ended_jobs(ports, use.claims.keys() - active)
        month, released = month_of(ports.clock()), use.after_ends(ended)
        after = released.with_claims(requests, quota, month)
        while outdated := await _outdated(ports, after.claims.keys() - released.claims.keys()):
            requests = [one for one in requests if one[0] not in outdated]
            after = released.with_claims(requests, quota, month)
        if (written := await _written(ports, use, after, quota)) is not None:
            return written
    return use


async def _written(ports: Ports, use: TeamUse, after: TeamUse, quota: Quota) -> TeamUse | None:
    """The record after a change, which is published; None where another process wrote meanwhile."""
    written = use if after == use else await ports.teams.put_use(after)
    if written is not None:
        _publish(ports, use, written, quota)
    return written


async def _outdated(ports: Ports, jobs: Collection[str]) -> set[str]:
    """Those of the jobs that do not wait for a claim any more.

    A claim of a job that has ended would be counted again. So after the record of claims is read, and before
    it is written, each job that gets one is read: what it waited for may be old by then.
    """
    gate = asyncio.Semaphore(_PARALLEL)

    async def is_outdated(job_id: str) -> bool:
        async with gate:
            stored = await ports.ledger.get(job_id)
        return stored is None or not stored.job.needs_claim

    ids = sorted(jobs)
    answers = await asyncio.gather(*map(is_outdated, ids))
    return {job_id for job_id, outdated in zip(ids, answers, strict=True) if outdated}


def _publish(ports: Ports, before: TeamUse, use: TeamUse, quota: Quota) -> None:
    """Tell the meter what a team has, and the log when its budget runs out."""
    month = month_of(ports.clock())
    for name, number in use.total(month)._asdict().items():
        ports.meter.set(f"slipway.team.{name}", number, team=use.team)
    ports.meter.set("slipway.team.waiting", len(use.waiting), team=use.team)
    for part in _WARNS:
        if quota.budget and before.spent(month) < part * quota.budget <= use.spent(month):
            text = "the team %s has used %d %% of its budget of %s"
            log.warning(text, use.team, part * 100, month, extra={"team": use.team, "action": "budget"})


async def _quota(ports: Ports, team: str) -> Quota:
    """The team's current quota, which may be without limits."""
    one = (await current_teams(ports)).teams.get(team)
    return one.quota if one is not None and one.quota is not None else _NO_LIMIT
