"""line: the waiting jobs of each team in one order, also where parts of the sweep see some of them each.

So the oldest job of all is next, and a large one does not wait for ever behind small ones of another part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from shared.core.cost.usage import month_of
from shared.core.ledger.records import Active
from shared.core.ports import Ports
from shared.lifecycle.active import active_jobs
from shared.lifecycle.teams.rows import PassJobs, Plan, quota_of, requests_of


async def with_other_parts(ports: Ports, plans: Mapping[str, Plan], of_pass: PassJobs) -> Mapping[str, Plan]:
    """The plans, with the jobs of their lines that only other parts of the sweep see. Raises SlipwayError.

    Costs nothing where this pass sees all of them, else a range query for each shard.
    """
    lines = {team: _line(plan, of_pass) for team, plan in plans.items()}
    if not any(lines.values()):
        return plans
    waiting: dict[str, list[Active]] = defaultdict(list)
    for row in await active_jobs(ports):
        if row.job_id in lines.get(row.team, ()):
            waiting[row.team].append(row)
    month, whole = month_of(ports.clock()), dict(plans)
    for team, line in lines.items():
        if line:
            requests = requests_of(waiting[team])
            after = plans[team].released.with_claims(requests, await quota_of(ports, team), month)
            whole[team] = plans[team]._replace(after=after, requests=requests)
    return whole


def _line(plan: Plan, of_pass: PassJobs) -> Collection[str]:
    """The jobs of a team that wait, where other parts see some of them; nothing where this pass sees all."""
    own = [job for job, _ in plan.requests]
    others = set(plan.use.waiting).difference(of_pass.active, of_pass.moved, plan.use.claims, own)
    return others.union(own) if others else ()
