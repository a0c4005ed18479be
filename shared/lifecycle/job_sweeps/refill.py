"""refill: the seat of a job that ended goes to the next one of its sweep at once, not at the next pass.

It only saves time: what fails here, or is cut off, the timer does from the records.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence

from shared.core.errors import SlipwayError
from shared.core.job import Job, JobState
from shared.core.ports import Ports
from shared.lifecycle.dispatch import dispatch
from shared.lifecycle.job_sweeps.seats import advance
from shared.lifecycle.teams.claims import release_claims
from shared.lifecycle.waiting.admit import admit_next

log = logging.getLogger(__name__)

#: How many jobs are submitted at once.
_PARALLEL = 16


async def refill(ports: Ports, ended: Sequence[Job]) -> int:
    """Note these ends, free their claims, and submit the next jobs of their sweeps; how many got a seat.

    One that ends by its submission makes room, too. Costs a read and a write a sweep. Raises no errors.
    """
    number = 0
    await release_claims(ports, ended)
    try:
        async with asyncio.timeout(ports.policy.sweep_deadline):
            while ends := _ends(ended):
                chosen = await asyncio.gather(*(_next(ports, name, one) for name, one in ends.items()))
                job_ids = [job_id for one in chosen for job_id in one]
                ended = await _submit(ports, job_ids)
                number += len(job_ids)
    except TimeoutError:
        log.warning("the time for the next jobs of sweeps is over; the rest is left to the timer")
    return number


def _ends(ended: Iterable[Job]) -> dict[str, dict[str, JobState]]:
    """How the jobs ended, by their sweeps."""
    ends: dict[str, dict[str, JobState]] = defaultdict(dict)
    for job in ended:
        if job.sweep is not None:
            ends[job.sweep.id][job.id] = job.state
    return ends


async def _next(ports: Ports, sweep_id: str, ends: dict[str, JobState]) -> list[str]:
    """The jobs that get a seat after these ends."""
    try:
        before = await ports.job_sweeps.get(sweep_id)
        if before is None:
            return []
        after = (await advance(ports, before, ends)).sweep
    except SlipwayError as error:
        log.warning("the next jobs of the sweep %s are left to the timer: %s", sweep_id, error)
        return []
    return [after.job_id(index) for index in after.seats if index not in before.sweep.seats]


def _is_next(job: Job) -> bool:
    """Whether it waits for nothing but its seat; the quota of its team is the timer's to look at."""
    return job.needs_seat and not job.needs_claim


async def submit_seated(ports: Ports, job_id: str, ended: list[Job]) -> None:
    """Submit a job that waits for no other, and has the seat and the claim that it needs.

    Its end goes to `ended`.
    """
    stored = await dispatch(ports, job_id, seated=True)
    if stored is not None and stored.job.state.terminal:
        ended.append(stored.job)


async def _submit(ports: Ports, job_ids: Iterable[str]) -> list[Job]:
    """Submit those that may be submitted now; the records of those that ended by that."""
    ended: list[Job] = []
    gate = asyncio.Semaphore(_PARALLEL)

    async def one(job_id: str) -> None:
        async with gate:
            try:
                stored = await ports.ledger.get(job_id)
                if stored is not None and _is_next(stored.job) and await admit_next(ports, stored.job):
                    await submit_seated(ports, job_id, ended)
            except SlipwayError as error:
                log.warning("%s is left to the timer: %s", job_id, error, extra={"job": job_id})

    await asyncio.gather(*map(one, job_ids))
    return ended
