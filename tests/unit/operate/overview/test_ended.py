"""Ends that were read, with those that came since."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from shared.core.cost.usage import Usage
from shared.core.ledger.ended import Ended, EndedJobs
from shared.core.states import JobState

_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def _at(minute: int) -> datetime:
    return _NOON + timedelta(minutes=minute)


def _ends(since: int, *minutes: int) -> EndedJobs:
    jobs = (
        Ended(f"j{one}", _at(one), JobState.FAILED, "", "", "", "n", "", Usage(1), 0.0) for one in minutes
    )
    return EndedJobs(tuple(jobs), _at(since))


def _ids(ends: EndedJobs) -> list[str]:
    return [one.id for one in ends.jobs]


def test_what_was_read_twice_counts_once() -> None:
    both = _ends(0, 20, 15, 5).and_later(_ends(10, 25, 20, 15, 12), _at(20), 10)

    assert (_ids(both), both.since) == (["j25", "j20", "j15", "j12", "j5"], _at(0))


def test_where_too_many_came_meanwhile_nothing_is_known_before_them() -> None:
    later = _ends(30, 40, 35, 30)

    assert _ends(0, 20, 15).and_later(later, _at(20), 10) == later


def test_no_more_are_kept_than_are_to_be() -> None:
    both = _ends(0, 20, 15, 5).and_later(_ends(10, 25), _at(20), 3)

    assert (_ids(both), both.since) == (["j25", "j20", "j15"], _at(15))
