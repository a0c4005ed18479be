"""admit: whether a job may be submitted now, or waits in the ledger: for the end of a pause, or for a slot.

Acceptance never stops. What waits is `accepted`, keeps its due time, and the sweep submits it when it may.
The counts are a protection, not an account: a process asks for them now and then, and adds what it accepts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from shared.core.engine import Why
from shared.core.job import Job, JobState
from shared.core.ledger.records import Active
from shared.core.pacing.waits import LONGEST_SLOT, SKEW, WaitKind
from shared.core.ports import Ports
from shared.lifecycle.waiting.due import is_due
from shared.lifecycle.waiting.pauses import PAUSED, describe_pause, paused
from shared.lifecycle.waiting.slots import (
    few,
    good_for,
    in_order,
    is_crowded,
    look_at_work,
    take_slot,
    why_slot,
)

log = logging.getLogger(__name__)

_HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Wait:
    """Why a job is not submitted now, and until when at least. `rate`: its source asks for too much."""

    until: datetime
    why: Why
    rate: bool = False


async def admit(
    ports: Ports, source: str, job_id: str, *, waits: bool = True, later: bool = False
) -> Wait | None:
    """None when a new job of the source may be submitted at once. Raises Unavailable.

    Its slot is taken from now on: a process that fails to record the job gives the slot back when the ledger
    is asked again. Where nothing `waits` in the ledger for a slot, none is taken for a job that would wait.
    A job that is submitted `later`, after other jobs, takes a slot of the hour only.
    Costs one point read in some seconds; near a limit, also some range queries a shard.
    """
    pause = await paused(ports)
    await _look_at_rate(ports, source)
    await look_at_work(ports)
    # From here on nothing is awaited, so of many at once no two take the same slot.
    now, wait = ports.clock(), _too_many(ports, source, job_id)
    if wait is not None and not waits:
        return wait
    if ports.policy.max_jobs_per_hour:
        ports.memo.add(_recent_key(source), now, job_id, wait.until if wait else now)
    if later:
        return wait
    if wait is None and pause is not None:
        wait = Wait(now, Why(PAUSED, f"waits: {describe_pause(pause)}"))
    if wait is None and is_crowded(ports, job_id):
        wait = Wait(now, why_slot(ports))
    if wait is None:
        take_slot(ports, job_id)
    return wait


async def admit_next(ports: Ports, job: Job) -> bool:
    """Whether a job that was accepted before, and waits for nothing else, may be submitted now.

    If so, its slot among the jobs at work is taken. Costs no more than `admit`. Raises Unavailable.
    """
    if await paused(ports) is not None:
        return False
    await look_at_work(ports)
    if not is_due(ports, job) or is_crowded(ports, job.id):
        return False
    take_slot(ports, job.id)
    return True


async def submittable(ports: Ports, rows: Iterable[Active]) -> list[Active]:
    """Of all active jobs those that are due for submission and may be submitted now, oldest first.

    While submissions are paused, those whose submission has begun: it may have landed (`dispatch`).
    """
    rows = list(rows)
    due = [row for row in rows if _is_due(ports, row)]
    if not due:
        return []
    begun = [row for row in due if row.state is JobState.SUBMITTING]
    pause = await paused(ports)
    if pause is not None:
        log.info("%s: %d jobs wait", describe_pause(pause), len(due))
        return begun
    waiting = sorted((row for row in due if row.state is JobState.ACCEPTED), key=_age, reverse=True)
    if ports.policy.max_active_jobs:
        waiting = await in_order(ports, rows, waiting)
    return [*begun, *waiting]


def _is_due(ports: Ports, row: Active) -> bool:
    """Whether it is time to submit a job."""
    if row.state not in (JobState.ACCEPTED, JobState.SUBMITTING):
        return False
    return not (row.after or row.needs_seat or row.needs_claim) and is_due(ports, row)


def _age(row: Active) -> str:
    return row.listed  # sorts newest first


async def _look_at_rate(ports: Ports, source: str) -> None:
    """Have a count of what the source started within an hour, and of what waits; unless few jobs came."""
    limit, key, now = ports.policy.max_jobs_per_hour, _recent_key(source), ports.clock()
    if few(ports, key, limit):
        return

    async def ask() -> dict[str, datetime]:
        return await ports.ledger.recent(source, now - _HOUR, now + SKEW)

    none: dict[str, datetime] = {}
    await ports.memo.get_or_last(key, now, partial(good_for, limit), ask, before=none)


def _too_many(ports: Ports, source: str, job_id: str) -> Wait | None:
    """The wait for a slot, if any: until one hour after the start of the N-th last job, N being the limit."""
    limit, key, now = ports.policy.max_jobs_per_hour, _recent_key(source), ports.clock()
    if few(ports, key, limit):
        return None
    starts: Mapping[str, datetime] = ports.memo.latest(key)
    start = starts.get(job_id, now)  # a job that arrives again, because its record failed, keeps its slot
    if job_id not in starts and len(starts) >= limit:
        latest = now + ports.policy.longest(WaitKind.SLOT)
        counted = sorted(at for at in starts.values() if now - _HOUR < at <= latest)
        start = min(counted[-limit] + _HOUR, now + LONGEST_SLOT) if len(counted) >= limit else now
    if ports.policy.is_over(WaitKind.SLOT, start, now):
        return None
    return Wait(start, hourly_limit(ports), rate=True)


def hourly_limit(ports: Ports) -> Why:
    """The reason of a job that waits because its source asked for too many."""
    limit = ports.policy.max_jobs_per_hour
    return Why("HourlyTurn", f"waits: {limit} jobs in an hour are allowed for one caller or door")


def _recent_key(source: str) -> str:
    return f"recent|{source}"
