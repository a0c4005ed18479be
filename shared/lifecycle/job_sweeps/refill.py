"""refill: gives the seat of an ended job to the next one of its sweep at once, before the next pass.

It only saves time: if it fails, the timer does the same from the records.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence

from shared.admission.door import admit_next
from shared.admission.permit import Permit
from shared.core.each import each
from shared.core.errors import SlipwayError
from shared.core.job import Job, JobState
from shared.core.ports import Ports
from shared.lifecycle.dispatch import dispatch
from shared.lifecycle.job_sweeps.seats import advance
from shared.lifecycle.teams.claims import release_claims

log = logging.getLogger(__name__)


async def refill(ports: Ports, ended: Sequence[Job]) -> int:
    """Record these ends, free their claims, and submit the next jobs of their sweeps; how many got a seat.

    A job that ends by its submission makes room, too. Costs a read and a write for each sweep. Never raises.
    """
    number = 0
    await release_claims(ports, ended)
    try:
        async with asyncio.timeout(ports.policy.pass_deadline):
            while ends := _ends(ended):
                chosen = await asyncio.gather(*(_next(ports, name, one) for name, one in ends.items()))
                job_ids = [job_id for one in chosen for job_id in one]
                ended = await _submit(ports, job_ids)
                number += len(job_ids)
    except TimeoutError:
        log.warning("the time for the next jobs of sweeps is over; the rest is left to the timer")
    return number


def _ends(ended: Iterable[Job]) -> dict[str, dict[str, JobState]]:
    """The ends of the jobs, by their sweeps."""
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


async def submit_next(ports: Ports, permit: Permit, ended: list[Job]) -> None:
    """Submit a job; if it ends by that, it is added to `ended`."""
    stored = await dispatch(ports, permit)
    if stored is not None and stored.job.state.terminal:
        ended.append(stored.job)


async def _submit(ports: Ports, job_ids: Iterable[str]) -> list[Job]:
    """Submit those that may be submitted now; returns the records of those that this ended."""
    ended: list[Job] = []

    async def one(job_id: str) -> None:
        try:
            stored = await ports.ledger.get(job_id)
            verdict = await admit_next(ports, stored, seats={job_id}) if stored is not None else None
            if isinstance(verdict, Permit):
                await submit_next(ports, verdict, ended)
        except SlipwayError as error:
            log.warning("%s is left to the timer: %s", job_id, error, extra={"job": job_id})

    await each(job_ids, one)
    return ended
