"""line: the jobs for which there is a slot: the oldest, or the teams in turn. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from shared.core.errors import Unreadable
from shared.core.ledger.records import Active
from shared.core.teams.turns import compete, in_turn


def first_in_line(
    waiting: Sequence[Active], at_work: Collection[str], weights: Mapping[str, float], room: int
) -> list[Active]:
    """As many of the waiting jobs, the oldest first, as there is room for, without unreadable records.

    Such a job is never submitted, so it would keep its slot from the others for ever. `at_work`: the team of
    each job at work.
    """
    if room <= 0 or len(waiting) <= room:
        return list(waiting[: max(0, room)])
    is_contest = compete(waiting)
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
