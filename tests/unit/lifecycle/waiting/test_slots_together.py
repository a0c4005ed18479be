"""The limit on active jobs with quotas and seats: never above any of them, in order, and all jobs end."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.core.errors import SlipwayError, Transient, Unavailable
from shared.core.job import Job, JobState
from shared.core.pacing.memo import Memo
from shared.core.teams.document import Teams
from shared.core.teams.use import TeamUse
from shared.intake.arrive import message_arrived
from shared.lifecycle.push import jobs_ended
from tests.breadth import examples
from tests.crash.invariants.swept_jobs import too_many_at_work
from tests.crash.invariants.team_claims import over_quota
from tests.unit.lifecycle.job_sweeps.swept import sweep_message
from tests.unit.world import World, job_json

TEAMS: dict[str, Any] = {
    "": None,
    "vision": {"weight": 2, "quota": {"jobs": 2, "borrows": True}},
    "speech": {"quota": {"nodes": 2, "jobs": 3, "lends": True}},
    "robots": {},
}

_teams = st.sampled_from(sorted(TEAMS))
ARRIVAL = st.tuples(st.just("job"), _teams)
SWEEP = st.tuples(st.just("sweep"), _teams)
END = st.tuples(st.sampled_from(["end", "end and tell"]), st.integers(0, 5))
PASS = st.tuples(st.sampled_from(["pass", "restart"]), st.just(0))
FAULT = st.tuples(st.sampled_from(["claims fail", "cluster fails"]), st.just(0))


class Play:
    """A deployment with a limit, and what happens in it."""

    def __init__(self, limit: int) -> None:
        self.world, self.limit, self.number = World(), limit, 0
        self.world.policy(max_active_jobs=limit)
        self.faulty = False

    async def begin(self) -> None:
        teams = {name: one for name, one in TEAMS.items() if one is not None}
        await self.world.ports.teams.put(Teams.model_validate({"teams": teams}), "")

    async def act(self, kind: str, which: Any) -> None:
        world = self.world
        if kind in ("job", "sweep"):
            await self._arrive(kind, which)
        elif kind in ("end", "end and tell") and (running := self._at_work()):
            job = running[which % len(running)]
            if job.target is not None and job.target.name in world.engine.jobs:
                world.engine.set_state(job.target.name, JobState.SUCCEEDED)
            if kind == "end and tell":
                await jobs_ended(world.ports, [job.id])
        elif kind == "restart":
            world.use(memo=Memo())
        elif kind == "pass":
            await world.make_pass()
        else:
            await self._fail(kind)

    async def _arrive(self, kind: str, team: str) -> None:
        self.number += 1
        self.world.pass_time(1)
        document: dict[str, Any] = {"team": team} if team else {}
        if kind == "job":
            document |= {"name": f"n{self.number}", "spec": job_json()}
        else:
            document |= sweep_message(parallel=2, notify=[])
        await message_arrived(self.world.ports, json.dumps(document).encode(), f"m{self.number}")

    async def _fail(self, kind: str) -> None:
        """A pass in which the claims cannot be written, or the cluster does not answer."""
        self.faulty = True
        world = self.world
        if kind == "cluster fails":
            world.engine.fail = [Transient("no answer")] * 3
            await world.make_pass()
            world.engine.fail = []
            return
        teams = world.ports.teams
        world.use(teams=Unwritable(teams))
        await world.make_pass()
        world.use(teams=teams)

    def _at_work(self) -> list[Job]:
        jobs = (job for job in self.world.ledger.jobs if job.target is not None and not job.state.terminal)
        return sorted(jobs, key=lambda job: job.created)

    async def check(self) -> None:
        assert len(self._at_work()) <= self.limit
        assert await over_quota(self.world) == []
        assert too_many_at_work(self.world) == []
        if not self.faulty:
            self._check_order()

    def _check_order(self) -> None:
        """No job of a team began before an older one of it; those of sweeps also wait for each other."""
        lines: dict[str, list[Job]] = defaultdict(list)
        for job in sorted(self.world.ledger.jobs, key=lambda job: job.created):
            if job.sweep is None and not (job.claim is not None and job.claim.returns):
                lines[job.team].append(job)
        for line in lines.values():
            begun = [min(_begun(job), default=None) for job in line]
            later = [at for at in begun if at is not None]
            assert begun[: len(later)] == sorted(later)

    async def drain(self) -> None:
        """All that work end, pass after pass: every job has its turn."""
        for _ in range(4 * len(self.world.ledger.jobs) + 30):
            for job in self._at_work():
                if job.target is not None and job.target.name in self.world.engine.jobs:
                    self.world.engine.set_state(job.target.name, JobState.SUCCEEDED)
            await self.world.make_pass()
            await self.check()
            if all(job.state.terminal for job in self.world.ledger.jobs):
                return
        starved = [job for job in self.world.ledger.jobs if not job.state.terminal]
        raise AssertionError(f"these wait for ever: {[(job.name, job.waiting) for job in starved]}")


class Unwritable:
    """Claims that can be read only."""

    def __init__(self, teams: Any) -> None:
        self.get, self.use = teams.get, teams.use

    async def put_use(self, use: TeamUse) -> TeamUse | None:
        raise Unavailable("no answer")

    async def put_uses(self, uses: Sequence[TeamUse]) -> list[TeamUse] | None:
        raise Unavailable("no answer")


def _begun(job: Job) -> list[Any]:
    return [entry.at for entry in job.history if entry.state is JobState.SUBMITTING]


async def _play(limit: int, acts: Sequence[tuple[str, Any]]) -> None:
    play = Play(limit)
    await play.begin()
    for kind, which in acts:
        try:
            await play.act(kind, which)
        except SlipwayError:
            assert play.faulty
        await play.check()
    await play.drain()


@pytest.mark.long
@settings(max_examples=examples(150), deadline=None)
@given(
    st.integers(1, 4),
    st.lists(st.one_of(ARRIVAL, ARRIVAL, SWEEP, END, END, PASS, FAULT), max_size=25),
)
def test_nothing_exceeds_the_limit_a_quota_or_its_seats_and_every_job_has_its_turn(
    limit: int, acts: list[tuple[str, Any]]
) -> None:
    asyncio.run(_play(limit, acts))
