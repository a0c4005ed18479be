"""lending: gives what is idle of lenders' quotas to waiting jobs of others, after recalls of what they need.

A loan is written in the rows of both teams by one transaction.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace

from shared.admission.pauses import paused
from shared.core.cost.usage import month_of
from shared.core.errors import SlipwayError, Unreadable
from shared.core.meter import NoMeter
from shared.core.ports import Ports
from shared.core.teams.document import Team, Teams
from shared.core.teams.loans import Party, Requests, lend
from shared.core.teams.use import TeamUse
from shared.lifecycle.current_teams import current_teams
from shared.lifecycle.teams.figures import publish_others
from shared.lifecycle.teams.recall import recalled
from shared.lifecycle.teams.rows import outdated, still_active, use_of

log = logging.getLogger(__name__)


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
        if not (old := await outdated(ports, new)):
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
