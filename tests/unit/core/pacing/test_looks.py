"""Which things are due to be looked at, and how many."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from shared.core.pacing.looks import Looks
from shared.core.pacing.wait_kinds import Planned

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def first(**times: datetime) -> dict[str, Planned]:
    return {one: Planned(moment, timedelta(minutes=1)) for one, moment in times.items()}


def test_the_longest_overdue_are_first_and_no_more_than_asked_for() -> None:
    looks = Looks()

    assert looks.due(first(a=at(-1), b=at(-3), c=at(1), d=NOW), NOW, 2) == ["b", "a"]


def test_what_was_looked_at_is_due_again_at_its_time() -> None:
    looks = Looks()
    looks.plan("a", at(5), NOW)

    assert looks.due(first(a=at(-60), b=at(-1)), at(4), 9) == ["b"]
    assert looks.due(first(a=at(-60)), at(5), 9) == ["a"]


def test_it_does_not_grow_without_end() -> None:
    looks = Looks()
    for number in range(20_001):
        looks.plan(str(number), at(5), NOW)

    assert looks.due(first(**{"0": at(-1), "20000": at(-1)}), NOW, 9) == ["0"]


def test_a_look_that_a_wrong_clock_planned_is_due() -> None:
    looks = Looks()
    looks.plan("a", at(3_005), at(3_000))

    assert looks.due(first(a=NOW, b=at(3_000)), NOW, 9) == ["b", "a"]
    assert looks.due(first(a=NOW), at(2_999), 9) == []
