"""Waits between tries, as tables."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.backoff import LONGEST_RETRY_AFTER, RetryPolicy, full_jitter, parse_retry_after

NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)
MINUTE, HOUR = 60, 3600


@pytest.mark.parametrize(
    ("attempt", "seconds"),
    [
        (0, 0), (1, 5), (2, 5 * MINUTE), (3, 30 * MINUTE), (4, 2 * HOUR), (5, 5 * HOUR), (6, 10 * HOUR),
        (7, 14 * HOUR), (8, 20 * HOUR), (9, 24 * HOUR),
    ],
)  # fmt: skip
def test_the_schedule_is_that_of_standard_webhooks(attempt: int, seconds: float) -> None:
    assert RetryPolicy().delay(attempt) == seconds


def test_after_ten_attempts_over_three_days_it_is_over() -> None:
    policy = RetryPolicy()

    assert sum(policy.delay(attempt) or 0 for attempt in range(10)) == 75 * HOUR + 35 * MINUTE + 5
    assert policy.delay(10) is None
    assert policy.delay(10_000, retry_after=1) is None


@given(attempt=st.integers(1, 9), jitter=st.floats(0, 1, exclude_max=True))
def test_jitter_moves_a_wait_by_a_fifth_at_most(attempt: int, jitter: float) -> None:
    middle = RetryPolicy().delay(attempt)
    wait = RetryPolicy().delay(attempt, jitter=jitter)

    assert middle is not None
    assert wait is not None
    assert 0.8 * middle <= wait < 1.2 * middle + 1e-9


def test_jitter_reaches_both_sides() -> None:
    assert RetryPolicy().delay(1, jitter=0.0) == pytest.approx(4)
    assert RetryPolicy().delay(1, jitter=0.99) == pytest.approx(6, abs=0.1)


@pytest.mark.parametrize(
    ("attempt", "asked", "seconds"),
    [(1, 120, 120), (1, 0, 5), (1, 4, 5), (2, 30, 300), (0, 7, 7), (1, 10**9, LONGEST_RETRY_AFTER)],
)
def test_what_the_receiver_asks_for_is_never_undercut(attempt: int, asked: float, seconds: float) -> None:
    assert RetryPolicy().delay(attempt, retry_after=asked) == seconds


def test_a_schedule_of_ones_own_is_followed() -> None:
    policy = RetryPolicy(schedule=(0, 1, 2), spread=0)

    assert [policy.delay(attempt, jitter=0.9) for attempt in range(4)] == [0, 1, 2, None]


@given(st.integers(0, 10_000), st.floats(0, 1, exclude_max=True))
def test_full_jitter_stays_between_nothing_and_the_cap(attempt: int, jitter: float) -> None:
    assert 0 <= full_jitter(attempt, 2.0, 600.0, jitter) <= 600.0


@pytest.mark.parametrize(
    ("attempt", "ceiling"), [(0, 2), (1, 4), (2, 8), (8, 512), (9, 600), (64, 600), (5000, 600)]
)
def test_full_jitter_doubles_its_ceiling_up_to_the_cap(attempt: int, ceiling: float) -> None:
    assert full_jitter(attempt, 2.0, 600.0, 0.5) == ceiling / 2
    assert full_jitter(attempt, 2.0, 600.0, 0.0) == 0


@pytest.mark.parametrize("jitter", [-0.1, 1.0, 2.0, float("nan")])
def test_a_jitter_outside_its_range_is_a_mistake(jitter: float) -> None:
    with pytest.raises(ValueError, match="jitter"):
        RetryPolicy().delay(1, jitter=jitter)
    with pytest.raises(ValueError, match="jitter"):
        full_jitter(1, 1, 1, jitter)


def test_a_negative_attempt_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="attempt"):
        RetryPolicy().delay(-1)
    with pytest.raises(ValueError, match="attempt"):
        full_jitter(-1, 1, 1, 0.5)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0), ("7", 7), (" 120 ", 120), ("86400", 86400), ("86401", 86400), ("999999999999999999", 86400),
        ("Fri, 20 Nov 2026 12:01:30 GMT", 90),
        ("Friday, 20-Nov-26 12:01:30 GMT", 90),
        ("Fri Nov 20 12:01:30 2026", 90),
        ("Fri, 20 Nov 2026 13:01:30 +0100", 90),
        ("Fri, 20 Nov 2026 11:00:00 GMT", 0),
        ("Fri, 20 Nov 2036 12:00:00 GMT", 86400),
    ],
)  # fmt: skip
def test_retry_after_is_read_as_seconds_or_as_a_date(header: str, seconds: float) -> None:
    assert parse_retry_after(header, NOW) == seconds


@pytest.mark.parametrize(
    "header",
    [
        None, "", "-1", "1.5", "1e3", "soon", "\uff11\uff12", "9" * 5000, "0x10", "12 34", "\x00",
        "Fri, 99 Nov 2026 12:00:00 GMT", "Fri, 20 Nov 99999 12:00:00 GMT",
    ],
)  # fmt: skip
def test_a_retry_after_that_cannot_be_read_asks_for_nothing(header: str | None) -> None:
    assert parse_retry_after(header, NOW) is None
