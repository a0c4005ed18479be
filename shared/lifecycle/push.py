"""push: a notice that jobs have ended; each is queried at once, not at the next pass.

That comes as a message, or as the record of a run that a node wrote into a container. Neither is believed in
anything, and no record is read: its place names the job, the engine is asked, and only what that says changes
the ledger. What is lost, late or forged changes nothing but the delay.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

from shared.core.each import each
from shared.core.engine import Observation
from shared.core.errors import EngineError, Unreadable
from shared.core.identity import JOB_ID
from shared.core.job import Job, JobState, Target
from shared.core.messages import ended_message
from shared.core.notify.events import Notice
from shared.core.ports import Ports
from shared.delivery.deliver import deliver_now
from shared.delivery.receipt_files import put_news
from shared.lifecycle.clusters.calling import calling
from shared.lifecycle.hold.find_held import note_hold
from shared.lifecycle.job_sweeps.refill import refill
from shared.lifecycle.observe import follow
from shared.lifecycle.transition import apply

log = logging.getLogger(__name__)

#: How many jobs are asked for at once.
_AT_ONCE = 32
#: Seconds after which a job is looked at again whose record came before its scheduler knew of the end.
_AGAIN = 5.0
#: <token>/result.json, wherever that is; a token is the job's id and the number of the attempt.
_RECORD = re.compile(rf"(?:.*/)?({JOB_ID})\.[0-9]{{1,9}}/result\.json", re.ASCII | re.DOTALL)


def job_of_record(name: str) -> str | None:
    """The job whose end a blob of this name reports; None for any other blob. Pure."""
    match = _RECORD.fullmatch(name)
    return match[1] if match else None


async def record_written(ports: Ports, job_id: str) -> None:
    """A node has written that a run of this job is over: observe it.

    The record is written by a process that its scheduler still has, so one more look is ordered when the
    engine is not that far; no more than one, so that a forged record costs no more.
    """
    if await jobs_ended(ports, [job_id]):
        await ports.queues.send("jobs", ended_message([job_id]), delay=_AGAIN)


async def jobs_ended(ports: Ports, job_ids: Sequence[str]) -> list[str]:
    """Observe these jobs; those that have not ended, as their engines say. Errors are left to the sweeper."""
    events: list[Notice] = []
    ended: list[Job] = []

    async def one(job_id: str) -> JobState | None:
        try:
            return await _observe(ports, job_id, events, ended)
        except (EngineError, TimeoutError, Unreadable) as error:
            log.warning("%s is left to the sweeper: %r", job_id, error, extra={"job": job_id})
            return None

    named_jobs = list(dict.fromkeys(job_ids))
    states = await each(named_jobs, one, _AT_ONCE)
    await deliver_now(ports, *events)
    await refill(ports, ended)
    return [job for job, state in zip(named_jobs, states, strict=True) if state and not state.terminal]


async def _observe(ports: Ports, job_id: str, events: list[Notice], ended: list[Job]) -> JobState | None:
    """Ask for one job, and record its end: on the record as remembered, else, if that was old, as read.

    The status from its engine; None if it was not queried.
    """
    observation: Observation | None = None
    asked_for: Target | None = None
    for read in (ports.ledger.recall, ports.ledger.get):
        stored = await read(job_id)
        if stored is None or stored.job.state.terminal:
            break
        target = stored.job.target
        if target is None:
            continue  # as remembered: another process may have submitted it since
        if observation is None or target != asked_for:
            observation, asked_for = await _ask(ports, target), target
        if not observation.state.terminal:
            await note_hold(ports, stored)
            break
        change = await follow(ports, stored, observation)
        if await apply(ports, change) is not None:
            job = change.transition.after
            log.info("%s is %s", job.id, job.state.value, extra={"job": job.id, "state": job.state.value})
            ended += [job] if job.state.terminal else []
            await put_news(ports, job)
            if change.notice is not None:
                events.append(change.notice)
            break
    return observation.state if observation else None


async def _ask(ports: Ports, target: Target) -> Observation:
    async with calling(ports, target.engine, target.cluster, ports.policy.dispatch_deadline) as engine:
        return await engine.see(target)
