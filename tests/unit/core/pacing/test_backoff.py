"""Waits between tries, as tables."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.pacing.backoff import full_jitter, parse_retry_after

NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)


@given(st.integers(0, 10_000), st.floats(0, 1, exclude_max=True))
def test_full_jitter_stays_between_nothing_and_the_cap(tries: int, jitter: float) -> None:
    assert 0 <= full_jitter(tries, 2.0, 600.0, jitter) <= 600.0


@pytest.mark.parametrize(
    ("tries", "ceiling"), [(0, 2), (1, 4), (2, 8), (8, 512), (9, 600), (64, 600), (5000, 600)]
)
def test_full_jitter_doubles_its_ceiling_up_to_the_cap(tries: int, ceiling: float) -> None:
    assert full_jitter(tries, 2.0, 600.0, 0.5) == ceiling / 2
    assert full_jitter(tries, 2.0, 600.0, 0.0) == 0


@pytest.mark.parametrize("jitter", [-0.1, 1.0, 2.0, float("nan")])
def test_a_jitter_outside_its_range_is_a_mistake(jitter: float) -> None:
    with pytest.raises(ValueError, match="jitter"):
        full_jitter(1, 1, 1, jitter)


def test_a_negative_number_of_tries_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="tries"):
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
        ("9" * 19, 86400), ("9" * 100, 86400), ("0" * 90 + "7", 7),
        ("Fri, 20 Nov 2026 12:00:60 GMT", 59), ("Fri Nov 20 12:00:60 2026", 59),
        ("Tue, 01 Dec 2026 12:00:00 GMT", 86400), ("Sat Nov 21 06:00:00 2026", 64800),
        ("Saturday, 21-Nov-26 06:00:00 GMT", 64800), ("Sunday, 06-Nov-94 08:49:37 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86400), ("Fri, 31 Dec 9999 23:59:59 -2359", 86400),
        ("Sat, 01 Jan 0001 00:00:00 GMT", 0), ("Sat, 01 Jan 0001 00:00:00 +2359", 0),
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
