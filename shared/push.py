"""push: a notice says that jobs have ended; each is asked for at once instead of at the next sweep.

The notice is believed in nothing: the engine is asked, and only what it says changes a record. A notice that
is lost, late or forged changes nothing but the delay.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from shared.advance import apply
from shared.answers import put_status
from shared.calling import calling
from shared.deliver import deliver_now
from shared.errors import EngineError
from shared.events import Notice
from shared.job import Stored
from shared.observe import follow
from shared.ports import Observation, Ports

log = logging.getLogger(__name__)

#: How many jobs are asked for at once.
_PARALLEL = 32


async def jobs_ended(ports: Ports, job_ids: Sequence[str]) -> int:
    """Observe these jobs; how many of them had ended. Errors are left to the sweep."""
    gate = asyncio.Semaphore(_PARALLEL)
    events: list[Notice] = []

    async def one(job_id: str) -> bool:
        async with gate:
            try:
                return await _observe(ports, job_id, events)
            except (EngineError, TimeoutError) as error:
                log.warning("%s is left to the sweep: %r", job_id, error, extra={"job": job_id})
                return False

    ended = await asyncio.gather(*(one(job_id) for job_id in dict.fromkeys(job_ids)))
    await deliver_now(ports, *events)
    return sum(ended)


async def _observe(ports: Ports, job_id: str, events: list[Notice]) -> bool:
    """Ask for one job, and record its end: on the record as remembered, else, if that was old, as read."""
    seen: Observation | None = None
    for read in (ports.ledger.recall, ports.ledger.get):
        stored = await read(job_id)
        if stored is None or stored.job.state.terminal or stored.job.target is None:
            return False
        if seen is None:
            seen = await _ask(ports, stored)
            asked_for = stored.job.target
        if not seen.state.terminal or stored.job.target != asked_for:
            return False
        change = follow(ports, stored, seen)
        if await apply(ports, change) is not None:
            job = change.transition.after
            log.info("%s is %s", job.id, job.state.value, extra={"job": job.id, "state": job.state.value})
            await put_status(ports, job)
            if change.notice is not None:
                events.append(change.notice)
            return True
    return False


async def _ask(ports: Ports, stored: Stored) -> Observation:
    target = stored.job.target
    assert target is not None
    async with calling(ports, target.engine, target.cluster, ports.policy.dispatch_deadline) as engine:
        return await engine.see(target)
