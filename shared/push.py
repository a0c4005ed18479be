"""push: somebody says that jobs have ended; each is asked for at once instead of at the next sweep.

That comes as a message, or as the record of a run that a node wrote into a container. Neither is believed in
anything, and no record is read: its place names the job, the engine is asked, and only what that says changes
the ledger. What is lost, late or forged changes nothing but the delay.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence

from shared.advance import apply
from shared.answers import put_status
from shared.calling import calling
from shared.deliver import deliver_now
from shared.errors import EngineError
from shared.events import Notice
from shared.identity import JOB_ID
from shared.job import JobState, Stored, Target
from shared.message import ended_message
from shared.observe import follow
from shared.ports import Observation, Ports

log = logging.getLogger(__name__)

#: How many jobs are asked for at once.
_PARALLEL = 32
#: Seconds after which a job is looked at again whose record came before its scheduler knew of the end.
_AGAIN = 5.0
#: <token>/result.json, wherever that is; a token is the job's id and the number of the attempt.
_RECORD = re.compile(rf"(?:.*/)?({JOB_ID})\.[0-9]{{1,9}}/result\.json", re.ASCII | re.DOTALL)


def job_of_record(name: str) -> str | None:
    """The job that a blob of this name tells the end of; None for any other blob. Pure."""
    found = _RECORD.fullmatch(name)
    return found[1] if found else None


async def record_written(ports: Ports, job_id: str) -> None:
    """A node has written that a run of this job is over: observe it.

    The record is written by a process that its scheduler still has, so one more look is ordered when the
    engine is not that far; no more than one, so that a forged record costs no more.
    """
    if await jobs_ended(ports, [job_id]):
        await ports.queues.send("jobs", ended_message([job_id]), delay=_AGAIN)


async def jobs_ended(ports: Ports, job_ids: Sequence[str]) -> list[str]:
    """Observe these jobs; those that have not ended, as their engines say. Errors are left to the sweep."""
    gate = asyncio.Semaphore(_PARALLEL)
    events: list[Notice] = []

    async def one(job_id: str) -> JobState | None:
        async with gate:
            try:
                return await _observe(ports, job_id, events)
            except (EngineError, TimeoutError) as error:
                log.warning("%s is left to the sweep: %r", job_id, error, extra={"job": job_id})
                return None

    asked = list(dict.fromkeys(job_ids))
    states = await asyncio.gather(*map(one, asked))
    await deliver_now(ports, *events)
    return [job for job, state in zip(asked, states, strict=True) if state and not state.terminal]


async def _observe(ports: Ports, job_id: str, events: list[Notice]) -> JobState | None:
    """Ask for one job, and record its end: on the record as remembered, else, if that was old, as read.

    What its engine says; None where nobody was asked.
    """
    seen: Observation | None = None
    asked_for: Target | None = None
    for read in (ports.ledger.recall, ports.ledger.get):
        stored = await read(job_id)
        if stored is None or stored.job.state.terminal:
            break
        if stored.job.target is None:
            continue  # as remembered: another process may have submitted it since
        if seen is None or stored.job.target != asked_for:
            seen, asked_for = await _ask(ports, stored), stored.job.target
        if not seen.state.terminal:
            break
        change = follow(ports, stored, seen)
        if await apply(ports, change) is not None:
            job = change.transition.after
            log.info("%s is %s", job.id, job.state.value, extra={"job": job.id, "state": job.state.value})
            await put_status(ports, job)
            if change.notice is not None:
                events.append(change.notice)
            break
    return seen.state if seen else None


async def _ask(ports: Ports, stored: Stored) -> Observation:
    target = stored.job.target
    assert target is not None
    async with calling(ports, target.engine, target.cluster, ports.policy.dispatch_deadline) as engine:
        return await engine.see(target)
