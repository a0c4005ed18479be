"""Timer schedules: expressions and intervals."""

from datetime import UTC, datetime, timedelta

import pytest

from local.host.triggers.schedule import parse_schedule

_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("00:00:00", 0),
        ("00:00:30", 30),
        ("01:00:00", 3600),
        ("24:00:00", 24 * 86400),
        ("0 */10 * * * *", 600),
    ],
)
def test_the_next_occurrence_follows_the_rule(text: str, expected: int) -> None:
    assert parse_schedule(text).next(_NOON) == _NOON + timedelta(seconds=expected)


@pytest.mark.parametrize(
    ("text", "fast"),
    [
        ("*/2 * * * * *", True),
        ("0,30 0 * * * *", True),
        ("0 * * * * *", False),
        ("00:00:00", True),
        ("00:00:59", True),
        ("00:01:00", False),
        ("0 0 0 30 2 *", False),
    ],
)
def test_a_schedule_under_a_minute_is_fast(text: str, fast: bool) -> None:
    assert parse_schedule(text).is_fast(_NOON) is fast


def test_the_thirtieth_of_february_is_taken_and_never_comes() -> None:
    assert parse_schedule("0 0 0 30 2 *").next(_NOON) is None


@pytest.mark.parametrize("text", ["soon", "1.25:00:00", "00:60:00", "* *"])
def test_a_schedule_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"time span|fields"):
        parse_schedule(text)
