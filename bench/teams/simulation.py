"""simulation: teams that share a cluster, until all their jobs have ended.

Teams with four weights and jobs of a minute to ten, all of which wait from the start, over
a table and a cluster in memory. Claims, turns, submissions and ends are the real code's; only the time passes
without anything happening in it. Each team has a quota that is above its share of the limit of active jobs.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import cycle

from bench.job import SPEC
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.teams import TableTeams
from shared.admission.gates import World as Facts
from shared.admission.permit import Permit, permitted
from shared.core.identity import job_id
from shared.core.job import Entry, Job, JobState
from shared.core.ledger.entries import Active
from shared.core.ports import Ports
from shared.core.relations.claim import Claim
from shared.core.teams.document import Teams
from shared.lifecycle.dispatch import dispatch
from shared.lifecycle.grants import Admitted, Loaded, admitted
from shared.lifecycle.push import jobs_ended
from shared.lifecycle.steps import for_each
from tests.unit.world import World

_WEIGHTS = (1.0, 2.0, 3.0, 4.0)
#: Jobs at work for each unit of weight, and the most minutes that one takes.
_SLOTS, _LONGEST = 4, 10
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Simulated:
    """What came of a simulation."""

    weights: Mapping[str, float]
    #: minutes at work of each team's jobs, while jobs of every team waited
    shares: Counter[str] = field(default_factory=Counter)
    #: processor seconds of admission, and jobs that waited, pass by pass
    passes: list[tuple[float, int]] = field(default_factory=list)
    ended: int = 0

    @property
    def unfairness(self) -> float:
        """By which part of what its weight gives it the share of a team is off, at most."""
        whole, weights = self.shares.total(), sum(self.weights.values())
        return max(
            abs(self.shares[team] / whole * weights / weight - 1) for team, weight in self.weights.items()
        )


async def simulate(teams: int = 20, jobs: int = 5_000) -> Simulated:
    """Play all jobs to their ends, in passes a minute apart."""
    world, chance = World(), random.Random(1)  # noqa: S311 - a simulation that can be repeated
    weights = dict(zip((f"team{number}" for number in range(teams)), cycle(_WEIGHTS), strict=False))
    limit = int(sum(weights.values())) * _SLOTS
    world.policy(max_active_jobs=limit, receipts=False)
    ledger = TableLedger(world.ledger.store)
    world.use(ledger=ledger, teams=TableTeams(world.ledger.store))
    await world.ports.teams.put(_document(weights, limit), "")
    each = jobs // teams
    waiting = [_job(team, number) for number in range(each) for team in weights]
    await asyncio.gather(*(ledger.create(job, SPEC, None) for job in waiting))
    result = Simulated(weights)
    at_work: dict[str, tuple[Active, int]] = {}
    while result.ended < len(waiting):
        await _pass(world, result, at_work, chance)
    return result


async def _pass(
    world: World, result: Simulated, at_work: dict[str, tuple[Active, int]], chance: random.Random
) -> None:
    """A minute: jobs end, and those that are next begin."""
    ports = world.ports
    world.pass_time(60)
    rows = await _active(world)
    ready, facts = await _admitted(world, rows, result)
    await for_each(ports, ready, lambda row: _submit(ports, row, facts))
    at_work |= {row.job_id: (row, chance.randint(1, _LONGEST)) for row in ready}
    lines = Counter(row.team for row in rows if row.state is JobState.ACCEPTED)
    lines.subtract(row.team for row in ready)
    if all(lines[team] > 0 for team in result.weights):
        result.shares.update(row.team for row, _ in at_work.values())
    over = [name for name, (_, minutes) in at_work.items() if minutes <= 1]
    for row in await _active(world):
        if row.job_id in over:
            world.engine.set_state(row.fixed_target.name, JobState.SUCCEEDED)
    await jobs_ended(ports, over)
    result.ended += len(over)
    for name, (row, minutes) in list(at_work.items()):
        at_work[name] = (row, minutes - 1)
        if minutes <= 1:
            del at_work[name]


async def _submit(ports: Ports, row: Active, facts: Facts) -> None:
    permit = permitted(row.stored, facts)
    assert isinstance(permit, Permit)
    await dispatch(ports, permit)


async def _admitted(world: World, rows: Sequence[Active], result: Simulated) -> Admitted:
    """The jobs that a pass submits, as the sweeper chooses them."""
    number = sum(row.needs_claim for row in rows)
    before = time.process_time()
    chosen = await admitted(world.ports, Loaded(rows, ()))
    if number:
        result.passes.append((time.process_time() - before, number))
    return chosen


async def _active(world: World) -> list[Active]:
    """The rows as the sweeper reads them: with their records."""
    longest = world.ports.policy.longest_delivery_wait
    shards = range(world.ledger.shards)
    answers = [await world.ports.ledger.unfinished(shard, world.now, longest) for shard in shards]
    return [row for answer in answers for row in answer.jobs]


def _document(weights: Mapping[str, float], limit: int) -> Teams:
    teams = {name: {"weight": weight, "quota": {"jobs": limit}} for name, weight in weights.items()}
    return Teams.model_validate({"teams": teams})


def _job(team: str, number: int) -> Job:
    """The n-th job of a team, as it is when it waits for its claim."""
    name = f"{team}-{number}"
    return Job(
        id=job_id(name, 1),
        key=name,
        payload="p",
        door="queue",
        name=name,
        experiment="e",
        cluster="dev",
        team=team,
        nodes=1,
        claim=Claim(nodes=1, gpus=0),
        state=JobState.ACCEPTED,
        created=_BEGIN.replace(microsecond=number % 1000 * 1000),
        due=_BEGIN,
        history=(Entry(sequence=1, state=JobState.ACCEPTED, at=_BEGIN, token=name),),
    )
