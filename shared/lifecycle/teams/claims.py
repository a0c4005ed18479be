"""claims: gives the jobs of teams with a quota their claims, in the order of their line, until they end.

A claim is written before the job's first submission, and is freed only after its end was recorded, which
never changes. A crash can only leave a claim that its job uses later, or that the next pass frees.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from shared.admission.pauses import paused
from shared.core.cost.usage import month_of
from shared.core.errors import SlipwayError
from shared.core.job import Job
from shared.core.ledger.entries import Active
from shared.core.ports import Ports
from shared.core.relations.claim import WAITS_FOR_QUOTA, Claim
from shared.core.teams.loans import Requests
from shared.core.teams.use import TeamUse
from shared.lifecycle.current_teams import current_teams
from shared.lifecycle.teams.lending import publish_lenders, spare, with_loans
from shared.lifecycle.teams.rows import (
    WRITES,
    PassJobs,
    Plan,
    brought_on,
    current_jobs,
    outdated,
    planned,
    quota_of,
    requests_of,
    use_of,
    without_ends,
    written,
)

log = logging.getLogger(__name__)
T = TypeVar("T")


class Claimed(NamedTuple):
    """The claims of those that wait for nothing else, by job; and the jobs that wait for their person's."""

    claims: Mapping[str, Claim]
    held_back: Collection[str]


async def claimed(
    ports: Ports, rows: Sequence[Active], asking: Iterable[Active], moved: Collection[str]
) -> Claimed:
    """Update the claims of all teams. Returns those of the jobs that ask for one.

    `rows` are all active jobs of this pass, `moved` those that may have ended since. Costs a point read for
    each team with a quota, a write where something changed, and a read for each job that ended or gets one.
    Loans cost the same of each lender, where jobs wait.
    """
    waiting: dict[str, list[Active]] = defaultdict(list)
    for row in asking:
        if not row.cancel and row.job_id not in moved:
            waiting[row.team].append(row)
    teams = {row.team for row in rows if row.claim is not None}
    active = {row.job_id for row in rows}.difference(moved)
    returns = {row.job_id: row.claim.returns for row in rows if row.claim is not None and row.claim.returns}
    requests = {team: requests_of(waiting[team]) for team in teams}
    of_pass = PassJobs(active, returns, moved)
    plans = await _planned(ports, requests, of_pass)
    uses = await _brought_on(ports, plans, of_pass, len(rows))
    uses |= await with_loans(ports, uses, {team: plan.requests for team, plan in plans.items()})
    await publish_lenders(ports, uses)
    await spare(ports, rows, uses)
    given_out = {
        row.job_id: use.claims[row.job_id]
        for team, use in uses.items()
        for row in waiting.get(team, ())
        if row.job_id in use.claims
    }
    return Claimed(given_out, {job for use in uses.values() for job in use.held_back})


async def free_ended(ports: Ports) -> None:
    """Free what jobs that ended have of quotas, also of teams without another job. Never raises.

    For a slow timer: what the writer of an end did not free, where no pass of the team came after. Costs a
    point read for each team with a quota.
    """
    try:
        document = await current_teams(ports)
    except SlipwayError as error:
        log.warning("the claims of ended jobs are left to the next run: %s", error)
        return
    limited = [name for name, one in document.teams.items() if one.quota is not None]
    await asyncio.gather(*(_free(ports, name) for name in limited))


async def _free(ports: Ports, team: str) -> None:
    try:
        for _ in range(WRITES):
            use = await ports.teams.use(team)
            after = await without_ends(ports, use, {*use.claims, *use.returned})
            if await written(ports, use, after, await quota_of(ports, team)) is not None:
                return
    except SlipwayError as error:
        log.warning("the claims of the team %s are left to the next run: %s", team, error)


async def claim_at_door(ports: Ports, job: Job) -> Claim | None:
    """Claim the quota for a job that was just recorded; None without room, or if it waits for more.

    No job overtakes another one of its team that waits for room. Raises SlipwayError.
    """
    waits = job.waiting is not None and job.waiting.word == WAITS_FOR_QUOTA
    if job.claim is None or not (job.needs_claim and waits) or await paused(ports) is not None:
        return None
    quota = await quota_of(ports, job.team)
    for _ in range(WRITES):
        use = await use_of(ports, job.team)
        if use.waiting:
            return None
        after = use.with_claims([(job.id, job.claim)], quota, month_of(ports.clock()))
        if after == use or await outdated(ports.ledger, {job.id: job.claim}):
            return use.claims.get(job.id)
        if await ports.teams.put_use(after) is not None:
            return after.claims.get(job.id)
    return None


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
    quota = await quota_of(ports, team)
    for _ in range(WRITES):
        use = await ports.teams.use(team)
        if await written(ports, use, use.after_ends(jobs), quota) is not None:
            return


async def _planned(ports: Ports, requests: Mapping[str, Requests], of_pass: PassJobs) -> Mapping[str, Plan]:
    """What each team frees and gives; without teams whose records do not answer."""

    async def plan(team: str) -> Plan:
        return await planned(ports, team, requests[team], of_pass)

    return await _by_team(sorted(requests), plan)


async def _brought_on(
    ports: Ports, plans: Mapping[str, Plan], of_pass: PassJobs, active: int
) -> dict[str, TeamUse]:
    """The claims of the teams after this pass; without teams whose records do not answer."""
    try:
        current = await current_jobs(ports, plans.values(), active)
    except SlipwayError:
        current = None  # each is read by itself

    async def bring_on(team: str) -> TeamUse:
        return await brought_on(ports, team, plans[team].requests, of_pass, plans[team], current)

    return await _by_team(plans, bring_on)


async def _by_team(teams: Iterable[str], act: Callable[[str], Awaitable[T]]) -> dict[str, T]:
    """What an act says of each team, all at once; a team whose records do not answer is left out."""
    names, answers = list(teams), dict[str, T]()

    async def one(team: str) -> None:
        try:
            answers[team] = await act(team)
        except SlipwayError as error:
            log.warning("the jobs of the team %s are left to the next pass: %s", team, error)

    await asyncio.gather(*map(one, names))
    return answers
