"""line: which of the jobs that wait are next: by priority and age, or the teams in turn. Pure.

Among teams the one with the fewest jobs at work for its weight is next; within a team, the oldest of the
highest priority is.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from shared.core.errors import Unreadable
from shared.core.ledger.entries import Active
from shared.core.relations.priority import rank


class _Waiting(NamedTuple):
    """A job, and the number of those before it."""

    place: int
    row: Active


class _Candidate(NamedTuple):
    """The next job of a team: the smallest is first."""

    #: the team's jobs at work for its weight, once this one is
    load: float
    place: int
    team: str


def in_line(waiting: Iterable[Active]) -> list[Active]:
    """The jobs in their order: the highest priority first, and of one priority the oldest."""
    oldest_first = sorted(waiting, key=lambda row: row.listed, reverse=True)
    return sorted(oldest_first, key=lambda row: rank(row.priority))


def compete(waiting: Sequence[Active]) -> bool:
    """Whether jobs of more than one team wait."""
    return len({row.team for row in waiting}) > 1


def in_turn(
    waiting: Iterable[Active], at_work: Iterable[str], weights: Mapping[str, float], room: int
) -> list[Active]:
    """The first `room` jobs of those that wait, which are `in_line`.

    `at_work`: the team of each job at work. A team without a weight has a weight of 1; so have all jobs
    without a team together.
    """
    lines: dict[str, deque[_Waiting]] = defaultdict(deque)
    for place, row in enumerate(waiting):
        lines[row.team].append(_Waiting(place, row))
    numbers = Counter(at_work)

    def candidate(team: str) -> _Candidate:
        return _Candidate((numbers[team] + 1) / weights.get(team, 1.0), lines[team][0].place, team)

    candidates = [candidate(team) for team in lines]
    heapq.heapify(candidates)
    chosen: list[Active] = []
    while candidates and len(chosen) < room:
        team = heapq.heappop(candidates).team
        chosen.append(lines[team].popleft().row)
        numbers[team] += 1
        if lines[team]:
            heapq.heappush(candidates, candidate(team))
    return chosen


def first_in_line(
    waiting: Sequence[Active], at_work: Collection[str], weights: Mapping[str, float], room: int
) -> list[Active]:
    """As many of the waiting jobs, which are `in_line`, as there is room for, without unreadable records.

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
