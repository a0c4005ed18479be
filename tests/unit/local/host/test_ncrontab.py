"""NCRONTAB: against examples, against croniter as an oracle, and its mistakes."""

from datetime import UTC, datetime, timedelta

import pytest
from croniter import CroniterBadDateError, croniter
from hypothesis import given, settings
from hypothesis import strategies as st

from local.host.triggers.ncrontab import parse_ncrontab
from tests.breadth import examples

_NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*/2 * * * * *", "2026-01-01T00:00:02"),
        ("0 */5 * * * *", "2026-01-01T00:05:00"),
        ("30 5 * * *", "2026-01-01T05:30:00"),
        ("0 0 0 13 * 5", "2026-02-13T00:00:00"),
        ("0 0 9 * * MON-FRI", "2026-01-01T09:00:00"),
        ("0 0 9 * * sun", "2026-01-04T09:00:00"),
        ("0 0 9 * * 0", "2026-01-04T09:00:00"),
        ("0 0 0 29 FEB *", "2028-02-29T00:00:00"),
        ("5-1 0 0 * * *", "2026-01-01T00:00:01"),
        ("0 0 0 1 January *", "2027-01-01T00:00:00"),
        ("10/20 * * * * *", "2026-01-01T00:00:10"),
        ("0 0 9 * * su", "2026-01-04T09:00:00"),
        ("0 0 0 1 MARC *", "2026-03-01T00:00:00"),
    ],
)
def test_the_next_occurrence_is_the_one_that_the_expression_names(text: str, expected: str) -> None:
    result = parse_ncrontab(text).next(_NEW_YEAR)

    assert result == datetime.fromisoformat(expected).replace(tzinfo=UTC)


def test_an_expression_that_never_matches_has_no_next_occurrence() -> None:
    assert parse_ncrontab("0 0 0 30 2 *").next(_NEW_YEAR) is None


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("* * * *", "4 fields"),
        ("60 * * * * *", "'60' in the second field"),
        ("* * 24 * * *", "'24' in the hour field"),
        ("* * * 0 * *", "'0' in the day field"),
        ("* * * * foo *", "'foo' in the month field"),
        ("* * * * * sunfoo", "'sunfoo' in the weekday field"),
        ("* * * * janx *", "'janx' in the month field"),
        ("0 0 0 * * 7", "'7' in the weekday field"),
        ("0 0 0 * * 0,7", "'7' in the weekday field"),
        ("*/0 * * * * *", "step"),
        ("1-2-3 * * * * *", "'1-2-3' in the second field"),
        ("-1 * * * * *", "'-1' in the second field"),
        (", * * * * *", "'' in the second field"),
    ],
)
def test_a_mistake_names_the_field(text: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        parse_ncrontab(text)


def _field(low: int, high: int) -> st.SearchStrategy[str]:
    value = st.integers(low, high)
    # Of one value only croniter reads a range of weekdays as the whole week.
    ordered = st.lists(value, min_size=2, max_size=2, unique=True).map(sorted)
    part = st.one_of(
        st.just("*"),
        value.map(str),
        ordered.map(lambda p: f"{p[0]}-{p[1]}"),
        st.integers(1, high).map(lambda n: f"*/{n}"),
        st.tuples(ordered, st.integers(1, high)).map(lambda p: f"{p[0][0]}-{p[0][1]}/{p[1]}"),
    )
    return st.lists(part, min_size=1, max_size=3).map(",".join)


_EXPRESSION = st.tuples(
    _field(0, 59), _field(0, 59), _field(0, 23), _field(1, 31), _field(1, 12), _field(0, 6)
).map(" ".join)
_TIME = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1)).map(lambda t: t.replace(tzinfo=UTC))


@given(text=_EXPRESSION, after=_TIME)
@settings(max_examples=examples(300), deadline=None)
def test_any_expression_agrees_with_croniter(text: str, after: datetime) -> None:
    mine = parse_ncrontab(text).next(after)

    try:
        oracle = croniter(text, after.replace(microsecond=0), second_at_beginning=True, day_or=False)
        theirs = oracle.get_next(datetime)
    except CroniterBadDateError:  # it looks less far ahead
        assert mine is None or mine - after > timedelta(days=365)
    else:
        assert mine == theirs
