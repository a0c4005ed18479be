"""slots: how many jobs are at work, and which of those that wait are next where the limit holds them back.

A job of a job sweep has its seat first, and one of a team with a quota its claim; then it waits for a slot
like any other. No door gives a slot away while the jobs that wait for one need all that are free: the sweeper
gives those, to the oldest jobs of the teams in turn. The counts are a protection, not an account: a process
asks for them now and then, and adds what it submits.
"""

from __future__ import annotations

from collections.abc import Sized
from datetime import datetime
from functools import partial

from shared.admission.active import active_jobs
from shared.admission.due import is_due
from shared.admission.reason import sentence
from shared.admission.sentences import why_slot
from shared.core.job import JobState
from shared.core.ledger.entries import Active
from shared.core.pacing.memo import Memo
from shared.core.ports import Ports

#: Seconds for which the counts of the ledger are good.
_COUNTS = 15.0
#: That many jobs away from a limit, a count is good for longer.
_FAR, _FAR_COUNTS = 1000, 300.0
#: A process that accepted less than this part of a limit does not ask whether it is reached.
_SHARE = 500
_AT_WORK, _IN_LINE = "at work", "in line"


async def look_at_work(ports: Ports) -> None:
    """Have a count of the jobs at work and in line, unless few jobs came."""
    limit, now = ports.policy.max_active_jobs, ports.clock()
    if few(ports.memo, _AT_WORK, limit):
        return
    none: dict[str, datetime] = {}
    await ports.memo.get_or_last(_AT_WORK, now, partial(good_for, limit), partial(_count, ports), before=none)


def slots_for(ports: Ports, job_id: str) -> frozenset[str] | None:
    """None if a job may be at work as well; otherwise no slot. Asks nothing."""
    return frozenset() if _is_crowded(ports, job_id) else None


def _is_crowded(ports: Ports, job_id: str) -> bool:
    """Whether all slots are taken, or needed by others that wait for one."""
    limit, at_work = ports.policy.max_active_jobs, ports.memo.latest(_AT_WORK)
    if few(ports.memo, _AT_WORK, limit) or job_id in at_work:
        return False
    line = ports.memo.latest(_IN_LINE)
    if len(at_work) + len(line) < limit:
        return False
    return len((at_work.keys() | line.keys()) - {job_id}) >= limit


def take_slot(ports: Ports, job_id: str) -> None:
    """Count a job as one at work from now on."""
    if ports.policy.max_active_jobs:
        now = ports.clock()
        ports.memo.add(_AT_WORK, now, job_id, now)


def few(memo: Memo, key: str, limit: int) -> bool:
    """Whether there is no limit, or this process came nowhere near it."""
    return not limit or memo.added(key) < limit // _SHARE


def good_for(limit: int, count: Sized) -> float:
    """The seconds for which a count is good."""
    return _COUNTS if limit - len(count) < _FAR else _FAR_COUNTS


async def _count(ports: Ports) -> dict[str, datetime]:
    """The jobs that are at work, by one range query a shard, which also finds those that wait for a slot."""
    now = ports.clock()
    rows = await active_jobs(ports.ledger)
    ports.memo.put(_IN_LINE, now, {row.job_id: now for row in rows if _is_in_line(ports, row)})
    return {row.job_id: now for row in rows if row.state is not JobState.ACCEPTED}


def _is_in_line(ports: Ports, row: Active) -> bool:
    """Whether a job waits for nothing but a slot; one with a seat or a claim says so itself."""
    if row.state is not JobState.ACCEPTED or row.after or not is_due(ports.policy, row, ports.clock()):
        return False
    return not (row.needs_seat or row.needs_claim) or row.waits == sentence(why_slot(ports.policy))
