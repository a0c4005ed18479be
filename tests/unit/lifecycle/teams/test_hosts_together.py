"""Two hosts over one storage, and fifty submissions at once: a quota of one job holds at all times."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.storage.job_sweeps import TableJobSweeps
from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.teams import TableTeams
from shared.core.engine import Observation, Order
from shared.core.job import JobState
from shared.core.pacing.memo import Memo
from shared.core.ports import Ports
from shared.intake.arrive import message_arrived
from shared.intake.drops.drop import look_at_folder
from shared.intake.message import read_request
from shared.intake.request_door import request_arrived
from shared.lifecycle.sweeper import make_pass
from tests.breadth import size
from tests.doubles.memory import MemoryLedger
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.lifecycle.teams.test_claims import share
from tests.unit.world import Engines, World, job_json

_JOBS = 50


class _Hesitant:
    """A table that lets others come before each call and after it."""

    def __init__(self, table: Any, seed: int) -> None:
        self._table, self._dice = table, random.Random(seed)

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **named: Any) -> Any:
            await self._hesitate()
            answer = await getattr(self._table, name)(*args, **named)
            await self._hesitate()
            return answer

        return call

    async def _hesitate(self) -> None:
        for _ in range(self._dice.randrange(4)):
            await asyncio.sleep(0)


class _Counting(MemoryEngine):
    """A cluster that knows how many jobs were at work at once."""

    most = 0

    async def submit(self, order: Order) -> Observation | None:
        await asyncio.sleep(0)
        answer = await super().submit(order)
        self.most = max(self.most, sum(not one.state.terminal for one in self.jobs.values()))
        return answer


def _host(world: World, seed: int) -> Ports:
    """A process of its own: it shares what is stored, and remembers nothing of the other one."""
    ledger = MemoryLedger(world.clock, table=_Hesitant(world.ledger.table, seed))
    return replace(
        world.ports,
        ledger=ledger,
        outbox=TableOutbox(ledger.store),
        job_sweeps=TableJobSweeps(ledger.store),
        teams=TableTeams(ledger.store),
        troubles=ledger.store.troubles,
        memo=Memo(),
    )


async def _arrive(world: World, host: Ports, number: int) -> None:
    text = json.dumps({"name": f"n{number}", "spec": job_json()}).encode()
    road = number % 3
    if road == 0:
        await message_arrived(host, text, f"m{number}")
    elif road == 1:
        request = read_request(text, host.policy.limits)
        await request_arrived(host, request, door="http", source="http:ada", key=f"k{number}")
    else:
        await look_at_folder(host, f"d{number}/")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(size(20, 1)))
async def test_of_fifty_submissions_at_once_one_runs_at_a_time(seed: int) -> None:
    world, engine = World(), _Counting()
    world.engine = engine
    world.use(engines=Engines(engine))
    await share(world, jobs=1)
    for number in range(2, _JOBS, 3):
        world.drops.upload(f"d{number}/job.json", json.dumps(job_json()).encode())
    world.pass_time(60)
    hosts = [_host(world, seed), _host(world, -seed - 1)]

    await asyncio.gather(
        *(_arrive(world, hosts[number // 3 % 2], number) for number in range(_JOBS)), *map(make_pass, hosts)
    )
    assert len(world.ledger.jobs) == _JOBS

    for _ in range(_JOBS + 5):
        for name, observation in engine.jobs.items():
            if not observation.state.terminal:
                engine.set_state(name, JobState.SUCCEEDED)
        world.pass_time(60)
        await asyncio.gather(*map(make_pass, hosts))

    assert engine.most == 1
    assert [job.state for job in world.ledger.jobs] == [JobState.SUCCEEDED] * _JOBS
    assert len(engine.started) == _JOBS
