"""Moments, versions and durations on the wire."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from local.azurebatch.state.errors import BatchError
from local.azurebatch.state.moment import NO_LIMIT, duration, etag, stamp


def test_a_version_is_the_time_of_the_change_in_ticks() -> None:
    """As recorded, but for the digit of 100 ns."""
    changed = datetime(2022, 9, 6, 23, 44, 11, 515371, tzinfo=UTC)

    assert etag(changed) == "0x8DA9061B2F7BB2E"
    assert stamp(changed) == "2022-09-06T23:44:11.515371Z"
    assert stamp(changed.replace(microsecond=0)) == "2022-09-06T23:44:11Z"


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("PT30S", timedelta(seconds=30)),
        ("PT1H30M", timedelta(minutes=90)),
        ("P7D", timedelta(days=7)),
        ("P1DT0.5S", timedelta(days=1, seconds=0.5)),
        (NO_LIMIT, None),
    ],
)
def test_a_duration_has_a_length_or_no_limit(text: str, length: timedelta | None) -> None:
    assert duration(text, "x") == length


@pytest.mark.parametrize("text", ["", "P", "PT", "10", "PT-1S", "P1Y", "P10675200D", "P99999999999999D"])
def test_what_is_no_duration_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(BatchError) as refused:
        duration(text, "retentionTime")

    assert refused.value.code == "InvalidPropertyValue"
    assert refused.value.values["PropertyName"] == "retentionTime"
