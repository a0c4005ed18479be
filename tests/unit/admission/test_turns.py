"""Turns of teams that share a limit: the one with the least for its weight is next, with its oldest job."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.teams.simulation import simulate
from shared.admission.line import in_turn
from shared.core.job import JobState
from shared.core.ledger.entries import Active
from tests.breadth import size

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def jobs_of(teams: list[str]) -> list[Active]:
    """A waiting job of each, the oldest first."""
    return [Active(f"j{n}", JobState.ACCEPTED, NOW, None, team=team) for n, team in enumerate(teams)]


def chosen(teams: list[str], at_work: list[str], room: int, **weights: float) -> list[str]:
    return [row.job_id for row in in_turn(jobs_of(teams), at_work, weights, room)]


@pytest.mark.parametrize(
    ("at_work", "weights", "expected"),
    [
        ([], {}, ["j0", "j3", "j1", "j4"]),
        (["a"], {}, ["j3", "j0", "j4", "j1"]),
        ([], {"b": 2.0}, ["j3", "j0", "j4", "j1"]),
        (["b"] * 9, {}, ["j0", "j1", "j2", "j3"]),
        (["c", "c"], {"a": 0.1}, ["j3", "j4", "j0", "j1"]),
    ],
)
def test_the_team_with_the_least_for_its_weight_is_next(
    at_work: list[str], weights: dict[str, float], expected: list[str]
) -> None:
    assert chosen(["a", "a", "a", "b", "b"], at_work, 4, **weights) == expected


def test_no_team_s_room_is_left_empty_while_another_has_jobs() -> None:
    assert chosen(["a", "", "a", "a"], [], 10, a=0.5) == ["j1", "j0", "j2", "j3"]


names = st.sampled_from("abc")
weighing = st.dictionaries(names, st.sampled_from([0.5, 1.0, 3.0]))


@given(st.lists(names, max_size=30), st.lists(names, max_size=10), weighing, st.integers(0, 30))
def test_turns_are_fair_and_keep_the_order_within_a_team(
    teams: list[str], at_work: list[str], weights: dict[str, float], room: int
) -> None:
    rows = jobs_of(teams)
    result = in_turn(rows, at_work, weights, room)

    assert len(result) == min(room, len(rows))
    have, remaining = Counter(at_work), Counter(teams)
    for row in result:
        after = (have[row.team] + 1) / weights.get(row.team, 1.0)
        assert all(
            after <= (have[team] + 1) / weights.get(team, 1.0) for team, number in remaining.items() if number
        )
        have[row.team] += 1
        remaining[row.team] -= 1
    for team in set(teams):
        own = [row for row in rows if row.team == team]
        assert [row for row in result if row.team == team] == own[: sum(row.team == team for row in result)]


@pytest.mark.long
async def test_shares_in_a_simulation_are_as_the_weights_say() -> None:
    result = await simulate(size(20, 4), size(1_000, 240))

    assert result.ended == size(1_000, 240)
    assert result.shares.total() > 0
    assert result.unfairness <= 0.05
