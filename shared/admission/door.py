"""door: the gates for one job, which may be submitted at once.

Acceptance never stops: what waits is `accepted`, and the sweeper submits it when it may.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

from shared.admission.gates import PASS, Wait, World, judge
from shared.admission.pauses import paused
from shared.admission.permit import Permit, permitted
from shared.admission.rate import look_at_rate, next_turn, take_turn
from shared.admission.slots import look_at_work, slots_for, take_slot
from shared.core.job import Job, Stored
from shared.core.ports import Ports
from shared.core.relations.claim import Claim
from shared.core.teams.document import Quota


class Entry(NamedTuple):
    """A new job as it was judged: with the time of its slot of the hour, if it has to wait for one."""

    job: Job
    world: World

    @property
    def exceeds_rate(self) -> bool:
        """Whether its source asks for too much."""
        return self.job.slot is not None


async def admit(ports: Ports, job: Job, quota: Quota | None = None, *, waits: bool = True) -> Entry:
    """Judge a job that is not recorded yet. `quota` is that of its team. Raises Unavailable.

    Its slots are taken from now on: a process that fails to record the job gives them back when the ledger
    is asked again. Where nothing `waits` in the ledger for a slot of the hour, none is taken for a job that
    would wait. Costs one point read in some seconds; near a limit, also some range queries a shard.
    """
    pause = await paused(ports)
    await look_at_rate(ports, job.source)
    await look_at_work(ports)
    # From here on nothing is awaited, so of many at once no two take the same slot.
    now, start = ports.clock(), next_turn(ports, job.source, job.id)
    if start is not None:
        job = job.model_copy(update={"due": start, "slot": start})
    quotas = {job.team: quota} if quota is not None else {}
    world = World(ports.policy, now, pause, slots=slots_for(ports, job.id), quotas=quotas)
    if start is None or waits:
        take_turn(ports, job.source, job.id, start or now)
    if judge(job, world) is PASS:
        take_slot(ports, job.id)
    return Entry(job, world)


async def admit_next(
    ports: Ports,
    stored: Stored,
    *,
    seats: Collection[str] = frozenset(),
    claims: Mapping[str, Claim] | None = None,
) -> Permit | Wait | None:
    """Judge a job that was accepted before, and has got a seat or a claim since.

    If it may be submitted, its slot among the jobs at work is taken. Costs no more than `admit`. Raises
    Unavailable.
    """
    pause = await paused(ports)
    world = World(ports.policy, ports.clock(), pause, seats, claims or {})
    if not isinstance(verdict := permitted(stored, world), Permit):
        return verdict
    await look_at_work(ports)
    verdict = permitted(stored, replace(world, slots=slots_for(ports, stored.job.id)))
    if isinstance(verdict, Permit):
        take_slot(ports, stored.job.id)
    return verdict
