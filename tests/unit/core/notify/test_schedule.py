"""The schedule of deliveries: its waits as tables, its bounds as properties, and what the page says."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.notify.schedule import Schedule
from shared.core.pacing.backoff import LONGEST_RETRY_AFTER
from shared.setting_table.rows import SETTINGS
from shared.settings import Settings

MINUTE, HOUR, DAY = 60, 3600, 86400
PAGE = (Path(__file__).resolve().parents[4] / "docs" / "reference" / "webhooks.md").read_text(
    encoding="utf-8"
)
DEFAULT = Settings({}).schedule()
WAITS = st.lists(st.floats(1, 30 * DAY), min_size=1, max_size=50).map(tuple)
JITTER = st.floats(0, 1, exclude_max=True)


@pytest.mark.parametrize(
    ("tries", "seconds"),
    [
        (1, 5), (2, 5 * MINUTE), (3, 30 * MINUTE), (4, 2 * HOUR), (5, 5 * HOUR), (6, 10 * HOUR),
        (7, 14 * HOUR), (8, 20 * HOUR), (9, 24 * HOUR),
    ],
)  # fmt: skip
def test_the_schedule_is_that_of_standard_webhooks(tries: int, seconds: float) -> None:
    assert DEFAULT.delay(tries) == seconds


def test_after_ten_tries_over_three_days_it_is_over() -> None:
    schedule = DEFAULT

    assert (schedule.tries, schedule.total) == (10, timedelta(hours=75, minutes=35, seconds=5))
    assert schedule.delay(10) is None
    assert schedule.delay(10_000, retry_after=1) is None


@given(tries=st.integers(1, 9), jitter=JITTER)
def test_jitter_moves_a_wait_by_a_fifth_at_most(tries: int, jitter: float) -> None:
    middle = DEFAULT.waits[tries - 1]
    wait = DEFAULT.delay(tries, jitter=jitter)

    assert wait is not None
    assert 0.8 * middle <= wait < 1.2 * middle + 1e-9


def test_jitter_reaches_both_sides() -> None:
    assert DEFAULT.delay(1, jitter=0.0) == pytest.approx(4)
    assert DEFAULT.delay(1, jitter=0.99) == pytest.approx(6, abs=0.1)


@pytest.mark.parametrize(
    ("tries", "pause", "seconds"),
    [(1, 120, 120), (1, 0, 5), (1, 4, 5), (2, 30, 300), (1, 10**9, LONGEST_RETRY_AFTER)],
)
def test_what_the_receiver_asks_for_is_never_undercut(tries: int, pause: float, seconds: float) -> None:
    assert DEFAULT.delay(tries, retry_after=pause) == seconds


def test_a_schedule_of_ones_own_is_followed() -> None:
    schedule = Schedule((1, 2), spread=0)

    assert [schedule.delay(tries, jitter=0.9) for tries in (1, 2, 3)] == [1, 2, None]


@given(waits=WAITS, jitter=JITTER, pause=st.floats(0, 1e9))
def test_no_wait_is_longer_than_the_longest(waits: tuple[float, ...], jitter: float, pause: float) -> None:
    schedule = Schedule(waits)
    longest = schedule.longest_wait.total_seconds() + 1e-6

    assert all(
        (schedule.delay(tries, retry_after=pause, jitter=jitter) or 0) <= longest
        for tries in range(1, schedule.tries + 1)
    )
    assert schedule.hold(pause, jitter) <= longest


@given(waits=WAITS)
def test_an_event_lives_for_all_its_tries_and_for_two_of_the_longest_pauses(waits: tuple[float, ...]) -> None:
    schedule = Schedule(waits)

    assert schedule.life >= 1.2 * schedule.total
    assert schedule.life >= 2 * schedule.longest_wait
    assert schedule.life % timedelta(days=1) == timedelta(0)


@pytest.mark.parametrize(
    ("waits", "days"),
    [((HOUR, 48 * HOUR, 12 * HOUR), 5), ((60,), 3), ((48 * HOUR,), 5), ((*[20 * HOUR] * 4, 48 * HOUR), 7)],
)
def test_the_life_of_an_event_follows_from_the_waits(waits: tuple[float, ...], days: int) -> None:
    assert Schedule(waits).life == timedelta(days=days)


@pytest.mark.parametrize(
    "waits", [(), (0.5,), (5, 0), (5, -1), (31 * DAY,), (float("nan"),), (float("inf"),), (5,) * 51]
)
def test_waits_that_no_delivery_could_keep_are_refused(waits: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"wait"):
        Schedule(waits)


@pytest.mark.parametrize("jitter", [-0.1, 1.0, 2.0, float("nan")])
def test_a_jitter_outside_its_range_is_a_mistake(jitter: float) -> None:
    with pytest.raises(ValueError, match="jitter"):
        DEFAULT.delay(1, jitter=jitter)
    with pytest.raises(ValueError, match="jitter"):
        DEFAULT.hold(1, jitter)


@pytest.mark.parametrize("tries", [-1, 0])
def test_the_first_try_has_no_wait(tries: int) -> None:
    with pytest.raises(ValueError, match="first"):
        DEFAULT.delay(tries)


# What the page says


def _words(seconds: float) -> str:
    for unit, size in (("h", HOUR), ("min", MINUTE)):
        if seconds >= size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"


#: What a test about the page says when the schedule has changed and the page has not.
_CORRECT = "correct the schedule, its bounds and the days in docs/reference/webhooks.md"


def test_the_page_tells_the_schedule_as_it_is() -> None:
    schedule = DEFAULT
    waits = [_words(wait) for wait in schedule.waits]
    output = " ".join(PAGE.split())

    spread = f"±{schedule.spread * 100:.0f} %"
    assert f"{', '.join(['at once', *waits[:-1]])} and {waits[-1]} (each {spread}" in output, _CORRECT
    assert f"about {schedule.total.days} days in all" in output, _CORRECT
    assert f"`{SETTINGS['SLIPWAY_WEBHOOK_SCHEDULE'].default}`" in output
    assert f"respected up to {LONGEST_RETRY_AFTER / HOUR:g} hours" in output


def _exactly(length: timedelta) -> str:
    minutes, seconds = divmod(int(length.total_seconds()), 60)
    return f"{minutes // 60} h {minutes % 60} min {seconds} s"


def test_the_page_tells_every_bound_of_the_schedule_and_its_value() -> None:
    schedule = DEFAULT
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| ([^|]+?) \|", PAGE, re.MULTILINE))

    assert rows == {
        "waits": f"{_words(schedule.waits[0])} … {_words(max(schedule.waits))}",
        "spread": f"±{schedule.spread * 100:.0f} %",
        "tries": str(schedule.tries),
        "total": _exactly(schedule.total),
        "longest_wait": f"{schedule.longest_wait / timedelta(hours=1):g} h",
        "life": f"{schedule.life.days} days",
    }, _CORRECT


def test_the_page_says_to_remember_ids_for_the_life_of_an_event() -> None:
    (days,) = re.findall(r"for (\w+) days at least", PAGE)
    number = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine").index(days)
    assert number == DEFAULT.life.days, _CORRECT
