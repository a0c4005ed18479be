"""The invariants of teams with a quota: never more jobs at work than it allows, each with its claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from shared.core.cost.usage import month_of
from shared.core.job import Job
from shared.core.relations.claim import Claim
from shared.core.teams.use import TeamUse
from tests.unit.world import World


async def over_quota(world: World) -> list[str]:
    """Teams whose running jobs or claims exceed the quota; and running jobs without a claim."""
    stored = await world.ports.teams.get()
    result: list[str] = []
    for team, one in (stored.teams.teams if stored is not None else {}).items():
        if one.quota is None:
            continue
        jobs = [job for job in world.ledger.jobs if job.team == team and job.claim is not None]
        at_work = {job.id: job.claim for job in jobs if job.target is not None and not job.state.terminal}
        use = await world.ports.teams.use(team)
        result += [
            f"{name} works without a claim"
            for name, claim in at_work.items()
            if claim is not None and not claim.is_of(use.claims.get(name))
        ]
        loans = {name: lender for name, lender in use.loans.items() if name in at_work}
        claims = {name: claim for name, claim in at_work.items() if claim is not None}
        running = TeamUse(team, claims, loans=loans, lent=use.lent)
        month = month_of(world.clock())
        for total in (use.held(month), running.held(month)):
            most = (one.quota.jobs, one.quota.nodes, one.quota.gpus)
            if any(limit is not None and now > limit for now, limit in zip(total[:3], most, strict=True)):
                result.append(f"{team} has {total}, and may have {most}")
        limit = one.quota.per_person
        for owner, number in _by_person(claims).items():
            if limit is not None and limit.jobs is not None and number > limit.jobs:
                result.append(f"{owner} has {number} jobs at once, and may have {limit.jobs}")
        result += await _torn(world, use)
        result += _miscounted(use, jobs)
        # No administrator ends jobs here, so such an end comes from a recall that the record has lost.
        result += [
            f"{job.id} was ended for a lender" for job in jobs if job.message.startswith("cancelled on the")
        ]
    return result


def _by_person(claims: Mapping[str, Claim]) -> Counter[str]:
    return Counter(claim.person for claim in claims.values())


async def _torn(world: World, use: TeamUse) -> list[str]:
    """Loans that are in only one of the two rows."""
    result: list[str] = []
    for job, lender in use.loans.items():
        if job not in (await world.ports.teams.use(lender)).lent:
            result.append(f"{job} has a loan of {lender}, which has lent nothing")
    for job, one in use.lent.items():
        if (await world.ports.teams.use(one.team)).loans.get(job) != use.team:
            result.append(f"{use.team} has lent room to {job}, which has no such loan")
    return result


def _miscounted(use: TeamUse, jobs: list[Job]) -> list[str]:
    """Usage that was counted twice, or not at all."""
    counted = sum(one.node_hours for one in use.months.values())
    used = sum(
        job.usage.node_hours
        for job in jobs
        if job.state.terminal and job.id not in {*use.claims, *use.returned}
    )
    if abs(counted - used) < 1e-6:
        return []
    return [f"{use.team} used {used} node-hours, and {counted} are counted"]
