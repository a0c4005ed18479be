"""slots: how many jobs are at work, and which of those that wait are next where the limit holds them back.

A job of a job sweep has its seat first, and one of a team with a quota its claim; then it waits for a slot
like any other. No door gives a slot away while the jobs that wait for one need all that are free: the sweep
gives those, to the oldest jobs of the teams in turn. The counts are a protection, not an account: a process
asks for them now and then, and adds what it submits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Sized
from datetime import datetime
from functools import partial

from shared.core.engine import Why
from shared.core.errors import Unreadable
from shared.core.job import JobState, Stored
from shared.core.ledger.records import Active
from shared.core.ports import Ports
from shared.core.teams.turns import compete, in_turn
from shared.delivery.answers import put_news
from shared.lifecycle.active import active_jobs
from shared.lifecycle.current_teams import current_teams
from shared.lifecycle.steps import for_each
from shared.lifecycle.transition import apply, note
from shared.lifecycle.waiting.due import is_due
from shared.lifecycle.waiting.pauses import paused
from shared.lifecycle.waiting.reason import sentence
from shared.lifecycle.waiting.reason import waiting as waiting_since

#: Seconds for which the counts of the ledger are good.
_COUNTS = 15.0
#: That many jobs away from a limit, a count is good for longer.
_FAR, _FAR_COUNTS = 1000, 300.0
#: A process that accepted less than this part of a limit does not ask whether it is reached.
_SHARE = 500
_AT_WORK, _IN_LINE = "at work", "in line"


def why_slot(ports: Ports) -> Why:
    """Why a job waits for a slot."""
    limit = ports.policy.max_active_jobs
    return Why("ActiveLimit", f"waits for its turn: the limit on active jobs ({limit}) is reached")


async def look_at_work(ports: Ports) -> None:
    """Have a count of the jobs at work and in line, unless few jobs came."""
    limit, now = ports.policy.max_active_jobs, ports.clock()
    if few(ports, _AT_WORK, limit):
        return
    none: dict[str, datetime] = {}
    await ports.memo.get_or_last(_AT_WORK, now, partial(good_for, limit), partial(_count, ports), before=none)


def is_crowded(ports: Ports, job_id: str) -> bool:
    """Whether all slots are taken, or needed by others that wait for one. Asks nothing."""
    limit, at_work = ports.policy.max_active_jobs, ports.memo.latest(_AT_WORK)
    if few(ports, _AT_WORK, limit) or job_id in at_work:
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


def few(ports: Ports, key: str, limit: int) -> bool:
    """Whether there is no limit, or this process came nowhere near it."""
    return not limit or ports.memo.added(key) < limit // _SHARE


def good_for(limit: int, count: Sized) -> float:
    """The seconds for which a count is good."""
    return _COUNTS if limit - len(count) < _FAR else _FAR_COUNTS


async def _count(ports: Ports) -> dict[str, datetime]:
    """The jobs that are at work, by one range query a shard, which also finds those that wait for a slot."""
    now = ports.clock()
    rows = await active_jobs(ports)
    ports.memo.put(_IN_LINE, now, {row.job_id: now for row in rows if _is_in_line(ports, row)})
    return {row.job_id: now for row in rows if row.state is not JobState.ACCEPTED}


def _is_in_line(ports: Ports, row: Active) -> bool:
    """Whether a job waits for nothing but a slot; one with a seat or a claim says so itself."""
    if row.state is not JobState.ACCEPTED or row.after or not is_due(ports, row):
        return False
    return not (row.needs_seat or row.needs_claim) or row.waits == sentence(why_slot(ports))


def is_contended(ports: Ports, rows: Collection[Active]) -> bool:
    """Whether jobs that get a seat or a claim only later in a pass might want the slots of others.

    Then no job is submitted before, or those without either would always be first.
    """
    limit = ports.policy.max_active_jobs
    if not limit or not any(row.needs_seat or row.needs_claim for row in rows):
        return False
    return len(rows) > limit


async def in_order(ports: Ports, rows: list[Active], waiting: list[Active]) -> list[Active]:
    """As many of the waiting jobs as the limit of active jobs allows: the oldest, or teams in turn."""
    limit = ports.policy.max_active_jobs
    at_work = {row.job_id: row.team for row in rows if row.state is not JobState.ACCEPTED}
    room = limit - len(at_work)
    if room <= 0 or not waiting:
        return []
    return await _first(ports, waiting, at_work.values(), room) if len(waiting) > room else waiting


async def _first(
    ports: Ports, waiting: Sequence[Active], at_work: Collection[str], room: int
) -> list[Active]:
    """The first of them, as many as there is room for, without those whose records cannot be read.

    Such a one is never submitted, so it would keep its slot from the others for ever.
    """
    weights: dict[str, float] = {}
    if is_contest := compete(waiting):
        weights = {name: team.weight for name, team in (await current_teams(ports)).teams.items()}
    while True:
        first = in_turn(waiting, at_work, weights, room) if is_contest else list(waiting[:room])
        if not (damaged := {row.job_id for row in first if not _is_legible(row)}):
            return first
        waiting = [row for row in waiting if row.job_id not in damaged]


def _is_legible(row: Active) -> bool:
    try:
        return bool(row.stored)
    except Unreadable:
        return False


async def note_lines(ports: Ports, rows: Iterable[Active]) -> None:
    """Say in the records of jobs with a seat or a claim that they wait for a slot, where that is the reason.

    So people see it, and the doors count them. Costs a write for each such job, once.
    """
    text = sentence(why_slot(ports))
    new = [row for row in rows if row.waits != text and is_due(ports, row)]
    if new and ports.policy.max_active_jobs and await paused(ports) is None:
        await for_each(ports, new, lambda row: note_line(ports, row.stored))


async def note_line(ports: Ports, stored: Stored) -> Stored:
    """Say in the record of a job that it waits for a slot now."""
    why = why_slot(ports)
    change = note(ports, stored, waiting=waiting_since(ports, stored.job, why), message=why.text)
    applied = await apply(ports, change)
    if applied is None:
        return stored
    await put_news(ports, applied.job)
    return applied
