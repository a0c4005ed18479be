"""Random lives of a deployment: clients, submissions and collectors take turns at every request, and crash.

In none does a job lack its code; with each precaution left out, in some life one does. What is needed by no
record goes at last.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from shared.core.code.record import Code
from shared.core.code.snapshots import Snapshot
from shared.core.errors import Misuse
from shared.core.ports import Ports
from shared.intake.candidate import Candidate
from shared.intake.kept_code import keep_code
from shared.intake.message import Request
from shared.jobspec import Envelope
from shared.lifecycle.collect import collect
from tests.breadth import size
from tests.doubles.memory_snapshots import MemorySnapshots
from tests.unit.world import World

LIVES, ACTIONS, RETENTION = size(60, 4), 800, timedelta(days=10)
CODES = [Code(scope="all", sha256=f"{number:064x}", bytes=1) for number in range(6)]


@dataclass
class Record:
    """A job, as far as its code is concerned."""

    code: Code
    ended: datetime | None = None

    @property
    def stored(self) -> Any:
        return SimpleNamespace(job=self)


@dataclass
class Turns:
    """Each request waits until it is its turn."""

    waiting: list[asyncio.Future[None]] = field(default_factory=list)

    async def wait(self) -> None:
        future = asyncio.get_running_loop().create_future()
        self.waiting.append(future)
        await future


class InTurns(MemorySnapshots):
    """The archives, whose requests wait for their turns; `without` leaves a precaution out."""

    def __init__(self, shared: MemorySnapshots, turns: Turns, without: str) -> None:
        super().__init__(shared.clock, shared.data, shared.shown, _versions=shared._versions)
        self.turns, self.without = turns, without

    async def touch(self, blob: str) -> bool:
        await self.turns.wait()
        return blob in self.data if self.without == "touch" else await super().touch(blob)

    async def listed(self) -> AsyncIterator[Snapshot]:
        await self.turns.wait()
        for one in [one async for one in super().listed()]:
            yield one

    async def delete(self, blob: str, etag: str) -> bool:
        await self.turns.wait()
        if self.without == "version" and blob in self.shown:
            etag = self.shown[blob].etag
        return await super().delete(blob, etag)


@dataclass
class Ledger:
    """The active jobs, in one shard."""

    turns: Turns
    records: list[Record]
    blind: bool
    shards: int = 1

    async def unfinished(self, *_: Any) -> Any:
        await self.turns.wait()
        jobs = [] if self.blind else [one for one in self.records if one.ended is None]
        return SimpleNamespace(jobs=jobs, sweeps=[], whole=True)


class Life:
    """One deployment; `without` names the precaution that is left out."""

    def __init__(self, seed: int, without: str = "") -> None:
        self.random, self.now, self.turns = random.Random(seed), datetime(2026, 1, 1, tzinfo=UTC), Turns()
        self.store, self.records = MemorySnapshots(lambda: self.now), list[Record]()
        self.running = list[asyncio.Task[None]]()
        self.ports = self._ports(without if without in ("at acceptance", "version") else "")
        self.collector = self._ports(without if without != "at acceptance" else "")
        self.collected = self.now

    def _ports(self, without: str) -> Ports:
        world = World()
        world.policy(retention=RETENTION)
        omitted = {"at acceptance": "touch", "renewal": "touch"}.get(without, without)
        snapshots = InTurns(self.store, self.turns, omitted)
        ledger: Any = Ledger(self.turns, self.records, without == "comparison")
        return replace(world.ports, snapshots=snapshots, ledger=ledger, clock=lambda: self.now)

    async def live(self) -> str:
        """What went wrong, or ""."""
        lacking, actions = "", 0
        while not lacking and (actions := actions + 1) < ACTIONS:
            await self.random.choices(self.actions, self.weights)[0](self)
            await self._settle()
            lacking = self._lacking()
        await self.finish()
        return lacking

    async def submit(self) -> None:
        """A client sends code that is not there, and then a job that names it."""

        async def client() -> None:
            code = self.random.choice(CODES)
            if await self.store.find(code.blob) is None:
                await self.turns.wait()
                await self.store.put(code.blob, b"x")
            await self.turns.wait()
            await self._accept(code)

        self._start(client())

    async def rerun(self) -> None:
        ended = [one for one in self.records if one.ended and self.now - one.ended < RETENTION]
        if ended:
            self._start(self._accept(self.random.choice(ended).code))

    async def _accept(self, code: Code) -> None:
        request = Request(Envelope(), None, "", code=code)
        try:
            await keep_code(
                self.ports.snapshots, Candidate(door="http", source="http:", key="k", request=request)
            )
        except Misuse:
            return
        await self.turns.wait()
        self.records.append(Record(code))

    async def collect(self) -> None:
        self.collected = self.now
        self._start(self._collect())

    async def _collect(self) -> None:
        await collect(self.collector)

    async def end(self) -> None:
        active = [one for one in self.records if one.ended is None]
        if active:
            self.random.choice(active).ended = self.now

    async def take_turn(self) -> None:
        if self.turns.waiting:
            chosen = self.turns.waiting.pop(self.random.randrange(len(self.turns.waiting)))
            if not chosen.done():
                chosen.set_result(None)

    async def crash(self) -> None:
        if self.running:
            self.random.choice(list(self.running)).cancel()

    async def pass_hours(self) -> None:
        """Time passes when nothing is under way, as no process lives for hours; the timer runs each day."""
        await self.finish()
        self.now += timedelta(hours=self.random.choice((1, 5, 20)))
        if self.now - self.collected > timedelta(hours=20):
            await self.collect()
            await self.finish()

    async def finish(self) -> None:
        await self._settle()
        while self.turns.waiting:
            await self.take_turn()
            await self._settle()

    def _start(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self.running.append(task)
        task.add_done_callback(self.running.remove)

    async def _settle(self) -> None:
        for _ in range(8):
            await asyncio.sleep(0)

    def _lacking(self) -> str:
        for one in self.records:
            is_kept = one.ended is None or self.now - one.ended < RETENTION
            if is_kept and one.code.blob not in self.store.data:
                return f"{'a job that ended' if one.ended else 'an active job'} lacks its code"
        return ""

    actions: tuple[Callable[[Life], Any], ...] = (submit, rerun, collect, end, take_turn, crash, pass_hours)
    weights = (2, 0.5, 1, 2, 20, 0.5, 10)


@pytest.mark.parametrize("seed", range(LIVES))
async def test_no_job_lacks_its_code(seed: int) -> None:
    life = Life(seed)

    assert await life.live() == ""

    for one in life.records:
        one.ended = one.ended or life.now
    await life.finish()
    life.now += RETENTION + timedelta(days=4)
    await life.collect()
    await life.finish()
    assert life.store.data == {}


@pytest.mark.thorough
@pytest.mark.parametrize("precaution", ["at acceptance", "renewal", "comparison", "version"])
async def test_without_a_precaution_some_job_does(precaution: str) -> None:
    assert any([await Life(seed, precaution).live() for seed in range(60)])
