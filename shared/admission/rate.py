"""rate: how many jobs a source may start within an hour; what comes above that waits for a later slot.

The counts are a protection, not an account: a process asks for them now and then, and adds what it accepts.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial

from shared.admission.slots import few, good_for
from shared.core.pacing.wait_kinds import LONGEST_SLOT, SKEW, WaitKind
from shared.core.ports import Ports

_HOUR = timedelta(hours=1)


async def look_at_rate(ports: Ports, source: str) -> None:
    """Have a count of what the source started within an hour, and of what waits; unless few jobs came."""
    limit, key, now = ports.policy.max_jobs_per_hour, _recent_key(source), ports.clock()
    if few(ports.memo, key, limit):
        return

    async def ask() -> dict[str, datetime]:
        return await ports.ledger.recent(source, now - _HOUR, now + SKEW)

    none: dict[str, datetime] = {}
    await ports.memo.get_or_last(key, now, partial(good_for, limit), ask, before=none)


def next_turn(ports: Ports, source: str, job_id: str) -> datetime | None:
    """The slot that a job has to wait for, if any: an hour after the start of the N-th last one.

    N is the limit. Asks nothing.
    """
    limit, key, now = ports.policy.max_jobs_per_hour, _recent_key(source), ports.clock()
    if few(ports.memo, key, limit):
        return None
    starts: Mapping[str, datetime] = ports.memo.latest(key)
    start = starts.get(job_id, now)  # a job that arrives again, because its record failed, keeps its slot
    if job_id not in starts and len(starts) >= limit:
        latest = now + ports.policy.longest(WaitKind.SLOT)
        counted = sorted(at for at in starts.values() if now - _HOUR < at <= latest)
        start = min(counted[-limit] + _HOUR, now + LONGEST_SLOT) if len(counted) >= limit else now
    return None if ports.policy.is_over(WaitKind.SLOT, start, now) else start


def take_turn(ports: Ports, source: str, job_id: str, at: datetime) -> None:
    """Count a job as one that its source starts then."""
    if ports.policy.max_jobs_per_hour:
        ports.memo.add(_recent_key(source), ports.clock(), job_id, at)


def _recent_key(source: str) -> str:
    return f"recent|{source}"
