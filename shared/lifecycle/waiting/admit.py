"""admit: whether a job may be submitted now, or waits in the ledger: for the end of a pause, or for a slot.

Acceptance never stops. What waits is `accepted`, keeps its due time, and the sweep submits it when it may.
The counts are a protection, not an account: a process asks for them now and then, and adds what it accepts.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from shared.core.engine import Why
from shared.core.job import Job, JobState
from shared.core.ledger.records import Active
from shared.core.pacing.backoff import is_due
from shared.core.ports import Ports
from shared.core.teams.turns import compete, in_turn
from shared.lifecycle.current_teams import current_teams
from shared.lifecycle.waiting.pauses import PAUSED, describe_pause, paused

log = logging.getLogger(__name__)

_HOUR = timedelta(hours=1)
#: The longest wait for a slot.
_LONGEST_SLOT = timedelta(days=30)
#: What is due further ahead was written by a wrong clock.
NO_SLOT = timedelta(days=31)
#: Seconds for which the counts of the ledger are good.
_COUNTS = 15.0
#: That many jobs away from a limit, a count is good for longer.
_FAR, _FAR_COUNTS = 1000, 300.0
#: A process that accepted less than this part of a limit does not ask whether it is reached.
_SHARE = 500
_AT_WORK = "at work"


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
    await _look_at_work(ports)
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
    wait = wait or _crowded(ports, job_id)
    if wait is None and ports.policy.max_active_jobs:
        ports.memo.add(_AT_WORK, now, job_id, now)
    return wait


async def admit_next(ports: Ports, job: Job) -> bool:
    """Whether a job that was accepted before, and waits for nothing else, may be submitted now.

    If so, its slot among the jobs at work is taken. Costs no more than `admit`. Raises Unavailable.
    """
    if await paused(ports) is not None:
        return False
    await _look_at_work(ports)
    now = ports.clock()
    if not is_due(job.due, now, NO_SLOT) or _crowded(ports, job.id) is not None:
        return False
    if ports.policy.max_active_jobs:
        ports.memo.add(_AT_WORK, now, job.id, now)
    return True


async def submittable(ports: Ports, rows: Iterable[Active], share: float = 1.0) -> list[Active]:
    """Of all active jobs those that are due for submission and may be submitted now, oldest first.

    `rows` may be those of some shards, which then have that share of what may be at work (`_in_turn`).
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
        waiting = await _in_turn(ports, rows, waiting, share)
    return [*begun, *waiting]


async def _in_turn(ports: Ports, rows: list[Active], waiting: list[Active], share: float) -> list[Active]:
    """As many of the waiting jobs as the limit of active jobs allows: the oldest, or teams in turn.

    Shares are rounded up, so that none is zero, and other shards may have more active jobs than their share:
    a sweeper of some shards also counts the active jobs of all, one range query a shard, unless this
    process did so within seconds. Processes that sweep their parts at the same moment may still overshoot, by
    what each submits before the others see it in the ledger.
    """
    limit = ports.policy.max_active_jobs
    at_work = {row.job_id for row in rows if row.state is not JobState.ACCEPTED}
    room = math.ceil(limit * share) - len(at_work)
    if room <= 0 or not waiting:
        return []
    if len(waiting) > room and compete(waiting):
        weights = {name: team.weight for name, team in (await current_teams(ports)).teams.items()}
        waiting = in_turn(waiting, (row.team for row in rows if row.job_id in at_work), weights, room)
    if share >= 1:
        return waiting[:room]
    everywhere = await ports.memo.get(_AT_WORK, ports.clock(), _COUNTS, partial(_at_work, ports))
    # From here on nothing is awaited, so of parts that are swept at once no two take the same slot.
    chosen = waiting[: max(0, min(room, limit - len(at_work | everywhere.keys())))]
    for row in chosen:
        ports.memo.add(_AT_WORK, ports.clock(), row.job_id, ports.clock())
    return chosen


def _is_due(ports: Ports, row: Active) -> bool:
    """Whether it is time to submit a job; one that waits for a slot of its source may wait for days."""
    if row.state not in (JobState.ACCEPTED, JobState.SUBMITTING):
        return False
    if row.after or row.needs_seat or row.needs_claim:
        return False
    for_a_slot = row.state is JobState.ACCEPTED and ports.policy.max_jobs_per_hour > 0
    return is_due(row.due, ports.clock(), NO_SLOT if for_a_slot else ports.policy.longest_wait)


def _age(row: Active) -> str:
    return row.listed  # sorts newest first


async def _look_at_rate(ports: Ports, source: str) -> None:
    """Have a count of what the source started within an hour, and of what waits; unless few jobs came."""
    limit, key, now = ports.policy.max_jobs_per_hour, _recent_key(source), ports.clock()
    if _few(ports, key, limit):
        return

    async def ask() -> dict[str, datetime]:
        return await ports.ledger.recent(source, now - _HOUR)

    none: dict[str, datetime] = {}
    await ports.memo.get_or_last(key, now, partial(_good_for, limit), ask, before=none)


def _too_many(ports: Ports, source: str, job_id: str) -> Wait | None:
    """The wait for a slot, if any: until one hour after the start of the N-th last job, N being the limit."""
    limit, key, now = ports.policy.max_jobs_per_hour, _recent_key(source), ports.clock()
    if _few(ports, key, limit):
        return None
    starts: Mapping[str, datetime] = ports.memo.latest(key)
    start = starts.get(job_id, now)  # a job that arrives again, because its record failed, keeps its slot
    if job_id not in starts and len(starts) >= limit:
        counted = sorted(at for at in starts.values() if now - _HOUR < at <= now + NO_SLOT)
        start = min(counted[-limit] + _HOUR, now + _LONGEST_SLOT) if len(counted) >= limit else now
    if start <= now:
        return None
    return Wait(start, hourly_limit(ports), rate=True)


def hourly_limit(ports: Ports) -> Why:
    """The reason of a job that waits because its source asked for too many."""
    limit = ports.policy.max_jobs_per_hour
    return Why("HourlyTurn", f"waits: {limit} jobs in an hour are allowed for one caller or door")


async def _look_at_work(ports: Ports) -> None:
    """Have a count of the jobs at work, unless few jobs came."""
    limit, now = ports.policy.max_active_jobs, ports.clock()
    if _few(ports, _AT_WORK, limit):
        return
    none: dict[str, datetime] = {}
    await ports.memo.get_or_last(
        _AT_WORK, now, partial(_good_for, limit), partial(_at_work, ports), before=none
    )


async def _at_work(ports: Ports) -> dict[str, datetime]:
    """The jobs that are at work, by one range query a shard."""
    now = ports.clock()
    shards = await asyncio.gather(*(ports.ledger.active(n) for n in range(ports.ledger.shards)))
    return {row.job_id: now for rows in shards for row in rows if row.state is not JobState.ACCEPTED}


def _crowded(ports: Ports, job_id: str) -> Wait | None:
    limit, at_work = ports.policy.max_active_jobs, ports.memo.latest(_AT_WORK)
    if _few(ports, _AT_WORK, limit) or len(at_work) < limit or job_id in at_work:
        return None
    return Wait(
        ports.clock(),
        Why("ActiveLimit", f"waits for its turn: the limit on active jobs ({limit}) is reached"),
    )


def _few(ports: Ports, key: str, limit: int) -> bool:
    """Whether there is no limit, or this process came nowhere near it."""
    return not limit or ports.memo.added(key) < limit // _SHARE


def _good_for(limit: int, count: Sized) -> float:
    """The seconds for which a count is good."""
    return _COUNTS if limit - len(count) < _FAR else _FAR_COUNTS


def _recent_key(source: str) -> str:
    return f"recent|{source}"
