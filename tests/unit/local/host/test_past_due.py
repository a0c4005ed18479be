"""Whether a timer has missed an occurrence, or has another schedule than before."""

from datetime import UTC, datetime

import pytest

from local.host.triggers.schedule import parse_schedule
from local.host.triggers.timer import follows

_NEVER = "0001-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    ("schedule", "last", "following", "same"),
    [
        ("0 0 0 1 1 *", "2001-01-01T00:00:00.050000+00:00", "2002-01-01T00:00:00+00:00", True),
        ("0 0 0 1 1 *", "2001-01-01T00:00:00+00:00", "2001-01-01T00:00:00+00:00", False),
        ("0 0 0 1 6 *", "2001-01-01T00:00:00+00:00", "2002-01-01T00:00:00+00:00", False),
        ("00:10:00", "2001-01-01T00:00:00.5+00:00", "2001-01-01T00:10:00.5+00:00", True),
        ("00:20:00", "2001-01-01T00:00:00.5+00:00", "2001-01-01T00:10:00.5+00:00", False),
        ("0 0 0 1 1 *", _NEVER, "2027-01-01T00:00:00+00:00", True),
        ("0 0 0 1 1 *", _NEVER, "2026-01-01T00:00:00+00:00", False),
        ("0 0 0 1 1 *", "not a time", "nor this", False),
    ],
)
def test_only_the_next_occurrence_of_the_same_schedule_counts_as_missed(
    schedule: str, last: str, following: str, same: bool
) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)

    assert follows({"Last": last, "Next": following}, parse_schedule(schedule), now) is same
