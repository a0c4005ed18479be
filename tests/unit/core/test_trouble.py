"""For how long a problem counts that was found."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from shared.core.trouble import Troubles, lately

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "minutes", "counts"),
    [("row", 14, True), ("row", 16, False), ("sweeper", 2, True), ("sweeper", 4, False), ("row", -16, False)],
)
def test_a_problem_counts_for_some_minutes_also_by_a_clock_that_is_ahead(
    kind: str, minutes: int, counts: bool
) -> None:
    assert lately(kind, NOW - timedelta(minutes=minutes), NOW) is counts


def test_a_problem_that_was_found_before_the_clock_went_back_does_not_count() -> None:
    now = NOW
    troubles = Troubles(lambda: now)
    troubles.report("row", "s000/n|j_1", "Due")
    now = NOW - timedelta(days=1)

    assert troubles.counts() == {}
    assert troubles.reasons("row") == {}
