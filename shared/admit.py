"""admit: whether a job may be submitted now, or waits in the ledger: for the switch, its source, or its turn.

Acceptance never stops. What waits is `accepted`, keeps its due time, and the sweep submits it when it may.
The counts are a protection, not an account: a process asks for them now and then, and adds what it accepts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sized
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from shared.backoff import is_due
from shared.job import Job, JobState, plain
from shared.ports import Active, Pause, Ports

log = logging.getLogger(__name__)

_HOUR = timedelta(hours=1)
#: Seconds for which an answer of the ledger is good: the switch, and the counts.
_SWITCH, _COUNTS = 5.0, 15.0
#: That many jobs away from a limit, a count is good for longer.
_FAR, _FAR_COUNTS = 1000, 300.0
#: A process that accepted less than this part of a limit does not ask whether it is reached.
_SHARE = 500
_PAUSED, _AT_WORK = "paused", "at work"


@dataclass(frozen=True)
class Wait:
    """Why a job is not submitted now, and until when at least. `rate`: its source asks for too much."""

    until: datetime
    why: str
    rate: bool = False


async def admit(ports: Ports, source: str) -> Wait | None:
    """None when a new job of the source may be submitted at once. Raises Unavailable.

    Costs one point read in some seconds; near a limit, also one range query a shard and limit.
    """
    pause = await paused(ports)
    if pause is not None:
        return Wait(ports.clock(), f"waits: {told(pause)}")
    return await _too_many(ports, source) or await _crowded(ports)


def admitted(ports: Ports, job: Job) -> None:
    """Count a job that this process has just recorded, until the ledger is asked again."""
    ports.memo.add(_recent_key(job.source), job.created, job.created)
    if job.state is JobState.SUBMITTING:
        ports.memo.add(_AT_WORK, job.created, job.id)


async def paused(ports: Ports) -> Pause | None:
    """Who paused submissions, by the setting or by the switch in the ledger; None while they go on."""
    if ports.policy.paused:
        return Pause(ports.clock(), "the setting SLIPWAY_PAUSED")
    return await ports.memo.get(_PAUSED, ports.clock(), _SWITCH, ports.ledger.paused)


async def pause(ports: Ports, by: str, reason: str) -> Pause:
    """Stop submissions everywhere within seconds; acceptance goes on."""
    found = Pause(ports.clock(), plain(by, 100), plain(reason, 200))
    await ports.ledger.pause(found)
    ports.memo.forget(_PAUSED)
    log.warning("submissions are paused by %s: %s", found.by, found.reason)
    return found


async def resume(ports: Ports, by: str) -> Pause | None:
    """Let submissions go on; the setting wins over the switch, so what is still in force is returned."""
    await ports.ledger.pause(None)
    ports.memo.forget(_PAUSED)
    log.warning("submissions are resumed by %s", plain(by, 100))
    return await paused(ports)


def told(pause: Pause) -> str:
    """A pause in words."""
    reason = f" ({pause.reason})" if pause.reason else ""
    return f"submissions are paused by {pause.by or 'an operator'}{reason}"


async def submittable(ports: Ports, rows: Iterable[Active], share: float = 1.0) -> list[Active]:
    """Of all active jobs those that are due for submission and may be submitted now, oldest first.

    `rows` may be those of some shards, which then have that share of what may be at work.
    """
    rows = list(rows)
    due = [row for row in rows if _due(ports, row)]
    if not due:
        return []
    pause = await paused(ports)
    if pause is not None:
        log.info("%s: %d jobs wait", told(pause), len(due))
        return []
    begun = [row for row in due if row.state is JobState.SUBMITTING]
    waiting = sorted((row for row in due if row.state is JobState.ACCEPTED), key=_age, reverse=True)
    if ports.policy.max_active_jobs:
        room = int(ports.policy.max_active_jobs * share) - sum(
            row.state is not JobState.ACCEPTED for row in rows
        )
        waiting = waiting[: max(0, room)]
    return [*begun, *waiting]


def _due(ports: Ports, row: Active) -> bool:
    """Whether it is time to submit a job; one that waits for its source's turn may wait for days."""
    if row.state not in (JobState.ACCEPTED, JobState.SUBMITTING):
        return False
    for_its_turn = row.state is JobState.ACCEPTED and ports.policy.max_jobs_per_hour > 0
    return is_due(row.due, ports.clock(), timedelta.max if for_its_turn else ports.policy.longest_wait)


def _age(row: Active) -> str:
    return row.listed  # sorts newest first


async def _too_many(ports: Ports, source: str) -> Wait | None:
    limit, now = ports.policy.max_jobs_per_hour, ports.clock()
    if not limit or ports.memo.added(_recent_key(source)) < limit // _SHARE:
        return None
    since = now - _HOUR

    async def ask() -> list[datetime]:
        return await ports.ledger.recent(source, since)

    none: list[datetime] = []
    found = await ports.memo.get(_recent_key(source), now, partial(_good_for, limit), ask, first=none)
    inside = [moment for moment in found if moment > since]
    if len(inside) < limit:
        return None
    # What comes on top is spread over the following hours.
    hours = (len(inside) - limit) // limit + 1
    why = f"waits: {limit} jobs in an hour are allowed for one caller or door"
    return Wait(min(inside) + hours * _HOUR, why, rate=True)


async def _crowded(ports: Ports) -> Wait | None:
    limit, now = ports.policy.max_active_jobs, ports.clock()
    if not limit or ports.memo.added(_AT_WORK) < limit // _SHARE:
        return None

    async def ask() -> list[str]:
        shards = await asyncio.gather(*(ports.ledger.active(n) for n in range(ports.ledger.shards)))
        return [row.job_id for rows in shards for row in rows if row.state is not JobState.ACCEPTED]

    none: list[str] = []
    at_work = await ports.memo.get(_AT_WORK, now, partial(_good_for, limit), ask, first=none)
    return Wait(now, f"waits its turn: {limit} jobs are at work") if len(at_work) >= limit else None


def _good_for(limit: int, found: Sized) -> float:
    """The seconds for which a count is good."""
    return _COUNTS if limit - len(found) < _FAR else _FAR_COUNTS


def _recent_key(source: str) -> str:
    return f"recent|{source}"
