"""lending: gives what is idle of lenders' quotas to waiting jobs of others, after recalls of what they need.

A loan is written in the rows of both teams by one transaction. What a lender needs back is taken from the
youngest loans: the job's record notes first that it is recalled, then its attempt is ended. When its record
says that it waits again, which counts the returns of its claim, the loan goes from both rows. A process that
knew the claim before that submits nothing with it. A crash leaves a loan that the next pass ends.
A need that is over is noted, and the recall taken back an hour later: until then the attempt may still end.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta

from shared.admission.pauses import paused
from shared.admission.reason import RECALLED, waiting
from shared.core.cost.usage import month_of
from shared.core.errors import SlipwayError, Unreadable
from shared.core.job import Job
from shared.core.ledger.entries import Active
from shared.core.meter import NoMeter
from shared.core.ports import Ports
from shared.core.relations.claim import Claim
from shared.core.teams.document import Team, Teams
from shared.core.teams.loans import Party, Requests, lend, recalls
from shared.core.teams.use import TeamUse
from shared.delivery.receipt_files import put_news
from shared.lifecycle.carry_out import carry_out
from shared.lifecycle.current_teams import current_teams
from shared.lifecycle.steps import for_each
from shared.lifecycle.teams.figures import publish_others, warn_of_budget
from shared.lifecycle.teams.rows import WRITES, PassJobs, brought_on, outdated, quota_of, still_active, use_of
from shared.lifecycle.transition import apply, note

log = logging.getLogger(__name__)

#: Longer than any process may live that still asks a cluster to end the attempt.
_UNDER_WAY = timedelta(hours=1)


async def with_loans(
    ports: Ports, uses: Mapping[str, TeamUse], requests: Mapping[str, Requests]
) -> Mapping[str, TeamUse]:
    """The records that change by recalls and new loans. Errors are left to the next pass, and logged."""
    if not any(use.waiting for use in uses.values()):
        return {}
    changed: dict[str, TeamUse] = {}
    try:
        if await paused(ports) is not None:
            return {}  # nothing could be submitted in the place of what is ended
        for team, use in uses.items():
            if use.waiting and use.lent:
                changed[team] = await recalled(ports, use, requests[team])
        document = await current_teams(ports)
        if any(_quota(one, "borrows") for one in document.teams.values()):
            changed |= await _lent(ports, document, {**uses, **changed}, requests)
    except SlipwayError as error:
        log.warning("loans between teams are left to the next pass: %s", error)
    return changed


async def publish_lenders(ports: Ports, uses: Mapping[str, TeamUse]) -> None:
    """Tell the meter what lenders have that no job of this pass belongs to. Never raises.

    Costs a point read of each while their loans last, and nothing without a listener.
    """
    names = {lender for use in uses.values() for lender in use.loans.values()}.difference(uses)
    if not names or isinstance(ports.meter, NoMeter):
        return
    try:
        lenders = await asyncio.gather(*map(ports.teams.use, sorted(names)))
    except SlipwayError as error:
        log.warning("the meter lacks what some lenders have: %s", error)
        return
    await publish_others(ports, lenders)


def _quota(team: Team, member: str) -> bool:
    return team.quota is not None and bool(getattr(team.quota, member))


async def _lent(
    ports: Ports, document: Teams, uses: Mapping[str, TeamUse], requests: Mapping[str, Requests]
) -> Mapping[str, TeamUse]:
    """Give loans to waiting jobs; the records of the borrowers after that."""
    month, before = month_of(ports.clock()), dict(uses)
    borrowers = [name for name, one in document.teams.items() if _quota(one, "borrows") and name in uses]
    if not any(uses[name].waiting for name in borrowers):
        return {}
    for name, one in document.teams.items():
        if name not in before and _quota(one, "lends"):
            try:
                before[name] = await _lender(ports, name)
            except Unreadable as error:
                log.warning("the team %s lends nothing: %s", name, error)
    line = dict(requests)
    while True:
        parties = {
            name: Party(before[name], one.quota, month, one.weight, line.get(name, ()))
            for name, one in document.teams.items()
            if one.quota is not None and name in before
        }
        lend(parties)
        new = {
            job: claim
            for name in borrowers
            for job, claim in parties[name].use.claims.items()
            if job not in before[name].claims
        }
        if not (old := await outdated(ports.ledger, new)):
            break
        line = {name: [one for one in ones if one[0] not in old] for name, ones in line.items()}
    return await _write_loans(ports, {name: parties[name].use for name in borrowers}, before)


async def _lender(ports: Ports, team: str) -> TeamUse:
    """The record of a team without a job in this pass; a job that ended meanwhile does not wait any more."""
    use = await use_of(ports, team)
    return replace(use, waiting=await still_active(ports, use.waiting))


async def _write_loans(
    ports: Ports, after: Mapping[str, TeamUse], before: Mapping[str, TeamUse]
) -> Mapping[str, TeamUse]:
    """Write each borrower with its lenders; where another process was quicker, the next pass goes on."""
    changed: dict[str, TeamUse] = {}
    latest = dict(before)
    for name, decided_use in after.items():
        if decided_use.claims == before[name].claims:
            continue  # it only lends: its record is written with that of each borrower
        use = replace(decided_use, lent=latest[name].lent, etag=latest[name].etag)
        lenders: dict[str, TeamUse] = {}
        for job, lender in use.loans.items():
            if job not in before[name].loans:
                mine = lenders.get(lender, latest[lender])
                lenders[lender] = mine.with_loan(job, name, use.claims[job])
        stored = await ports.teams.put_uses([use, *lenders.values()])
        if stored is None:
            break
        await publish_others(ports, stored)
        changed |= {name: stored[0]}
        latest |= {one.team: one for one in stored}
    return changed


async def spare(ports: Ports, rows: Iterable[Active], uses: Mapping[str, TeamUse]) -> None:
    """Take back recalls that no lender needs any more. Costs nothing while no job is recalled."""
    jobs = [row for row in rows if row.claim is not None and row.claim.recalled and not row.cancel]
    await for_each(ports, jobs, lambda row: _spare(ports, row, uses))


async def _spare(ports: Ports, row: Active, uses: Mapping[str, TeamUse]) -> None:
    if await _is_needed(ports, row, uses):
        return
    stored, now = await ports.ledger.get(row.job_id), ports.clock()
    if stored is None or stored.job.claim is None or not stored.job.is_recalled or stored.job.state.terminal:
        return
    since = stored.job.claim.spared_since
    if since is not None and timedelta(0) <= now - since <= _UNDER_WAY:
        return
    # A clock that went back starts the hour anew.
    is_over = since is not None and since <= now
    after = stored.job.claim.without_recall if is_over else stored.job.claim.spared(now)
    if await apply(ports, note(ports, stored, claim=after)) is not None and is_over:
        log.info("%s is not recalled any more", row.job_id, extra={"job": row.job_id})


async def _is_needed(ports: Ports, row: Active, uses: Mapping[str, TeamUse]) -> bool:
    """Whether the job has a loan of a team that has a waiting job."""
    mine = uses.get(row.team) or await ports.teams.use(row.team)
    lender = mine.loans.get(row.job_id)
    if lender is None:
        return False
    if lender in uses:
        return bool(uses[lender].waiting)
    return bool(await still_active(ports, (await ports.teams.use(lender)).waiting))


async def recalled(ports: Ports, use: TeamUse, requests: Requests) -> TeamUse:
    """Take back what the waiting jobs of a lender need; its record after that, with their claims."""
    quota, month = await quota_of(ports, use.team), month_of(ports.clock())
    over: dict[str, dict[str, Job | None]] = defaultdict(dict)

    async def one(job_id: str) -> None:
        borrower, claim = use.lent[job_id]
        stored = await ports.ledger.get(job_id)
        job = await _taken_back(ports, job_id, claim) if stored is not None else None
        if job is not None or stored is None:
            over[borrower][job_id] = job

    await for_each(ports, recalls(use, requests, quota, month), one)
    for borrower, jobs in over.items():
        await _end_loans(ports, use.team, borrower, jobs)
    return (
        await brought_on(ports, use.team, requests, PassJobs(use.claims.keys() | use.returned.keys()))
        if over
        else use
    )


async def _taken_back(ports: Ports, job_id: str, claim: Claim) -> Job | None:
    """Have the job give its claim back; its record once it did or ended, None while its attempt goes on."""
    for _ in range(WRITES):
        try:
            stored = await ports.ledger.get(job_id)
        except Unreadable:
            return None  # it decides nothing
        if stored is None:
            return None
        job = stored.job
        if job.state.terminal or job.claim is None or not claim.is_of(job.claim):
            return job
        if job.needs_claim:
            waits = waiting(ports, job, RECALLED)
            change = note(ports, stored, claim=job.claim.given_back, waiting=waits, message=RECALLED.text)
        elif not job.is_needed_back:
            change = note(ports, stored, claim=job.claim.needed_back, due=ports.clock())
        else:
            await carry_out(ports, stored)
            return None
        applied = await apply(ports, change)
        if applied is None:
            continue
        if applied.job.needs_claim:
            await put_news(ports, applied.job)
            return applied.job
        log.info("%s is recalled: its lender needs the quota", job_id, extra={"job": job_id})
        await carry_out(ports, applied)
        return None
    return None


async def _end_loans(ports: Ports, lender: str, borrower: str, jobs: Mapping[str, Job | None]) -> None:
    """Take jobs that ended, gave their claims back, or do not exist (None), out of both rows."""
    records = [job for job in jobs.values() if job is not None]
    for _ in range(WRITES):
        mine, theirs = await ports.teams.use(lender), await ports.teams.use(borrower)
        ended = [job for job in records if job.state.terminal and job.id in theirs.claims]
        after = theirs.after_ends(ended).without_absent(frozenset(jobs) - {job.id for job in records})
        after = after.after_returns(job for job in records if not job.state.terminal)
        # A loan that only the lender's row has was torn by hand, or by another version: it costs no claim.
        paid = mine.after_loans({job for job in jobs if after.loans.get(job) != lender})
        changed = [one for one, before in ((paid, mine), (after, theirs)) if one != before]
        warn_of_budget(ports, theirs, after, await quota_of(ports, borrower))
        if not changed or await ports.teams.put_uses(changed) is not None:
            return
