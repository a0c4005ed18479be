"""The order of waiting jobs when teams share a limit. Pure.

The team with the fewest jobs at work for its weight is next; within a team, the oldest job is.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from shared.core.ledger.records import Active


class _Waiting(NamedTuple):
    """A job, and the number of older ones."""

    place: int
    row: Active


class _Candidate(NamedTuple):
    """The next job of a team: the smallest is first."""

    #: the team's jobs at work for its weight, once this one is
    load: float
    place: int
    team: str


def compete(waiting: Sequence[Active]) -> bool:
    """Whether jobs of more than one team wait."""
    return len({row.team for row in waiting}) > 1


def in_turn(
    waiting: Iterable[Active], at_work: Iterable[str], weights: Mapping[str, float], room: int
) -> list[Active]:
    """The first `room` jobs of those that wait, the oldest of which comes first in `waiting`.

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
