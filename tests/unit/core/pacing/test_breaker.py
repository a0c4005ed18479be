"""The breaker as a table of what happened and who may try."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from shared.core.pacing.breaker import Breaker, Opened

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def opened(breaker: Breaker, key: str = "a", count: int = 3) -> Breaker:
    for _ in range(count):
        assert breaker.wait(key, NOW) == 0
        breaker.failed(key, NOW)
    return breaker


def test_it_stays_closed_until_enough_failed_in_a_row() -> None:
    breaker = opened(Breaker(3, 30), count=2)
    breaker.succeeded("a")
    opened(breaker, count=2)
    assert breaker.wait("a", NOW) == 0


def test_open_no_one_tries_and_other_keys_do() -> None:
    breaker = opened(Breaker(3, 30))
    assert (breaker.wait("a", at(10)), breaker.wait("b", at(10))) == (20, 0)
    assert (breaker.open("a", at(10)), breaker.open("b", at(10))) == (True, False)


def test_after_the_pause_one_probes_and_the_others_wait_for_it() -> None:
    breaker = opened(Breaker(3, 30))
    assert breaker.wait("a", at(31)) == 0
    assert breaker.wait("a", at(31)) == 30
    breaker.succeeded("a")
    assert breaker.wait("a", at(31)) == 0


def test_asking_whether_it_is_open_takes_no_ones_turn() -> None:
    breaker = opened(Breaker(3, 30))
    assert not breaker.open("a", at(31))
    assert breaker.wait("a", at(31)) == 0


def test_a_probe_that_never_came_back_is_followed_by_another() -> None:
    breaker = opened(Breaker(3, 30))
    assert breaker.wait("a", at(31)) == 0
    assert breaker.wait("a", at(62)) == 0


def test_each_probe_that_fails_doubles_the_pause_up_to_the_longest() -> None:
    breaker = opened(Breaker(3, 30, 100))
    now, pauses = 0.0, []
    for _ in range(4):
        wait = breaker.wait("a", at(now))
        pauses.append(wait)
        now += wait
        assert breaker.wait("a", at(now)) == 0
        breaker.failed("a", at(now))
    assert pauses == [30, 60, 100, 100]


def test_those_who_began_before_it_opened_say_nothing_new() -> None:
    breaker = opened(Breaker(3, 30, 900))
    for _ in range(20):
        breaker.failed("a", at(5))
    assert breaker.wait("a", at(5)) == 25


def test_anyone_who_asks_for_a_pause_gets_it_at_once() -> None:
    breaker = Breaker(3, 30)
    breaker.failed("a", NOW, pause=500)
    assert breaker.wait("a", at(100)) == 400
    assert [breaker.wait("a", at(501)) for _ in range(2)] == [0, 0]


def test_a_clock_that_goes_back_holds_no_one_longer_than_the_pause() -> None:
    breaker = Breaker(1, 30)
    breaker.failed("a", at(3600))
    assert breaker.wait("a", NOW) == 0


def test_what_is_remembered_is_bounded() -> None:
    breaker = Breaker(1, 30)
    for number in range(10_050):
        breaker.failed(str(number), NOW)
    assert breaker.wait("0", at(1)) == 0
    assert breaker.wait("10049", at(1)) > 0


def test_its_state_says_since_when_no_one_was_let_through_and_takes_no_probe() -> None:
    breaker = Breaker(3, 30)
    assert breaker.state("a", NOW) is None
    opened(breaker, count=2)
    assert breaker.state("a", NOW) is None
    breaker.failed("a", at(5))

    assert breaker.state("a", at(10)) == Opened("open", at(5), at(35))
    assert [breaker.state("a", at(36)) for _ in range(2)] == [Opened("half-open", at(5), at(35))] * 2
    assert breaker.wait("a", at(36)) == 0
    assert breaker.state("a", at(37)) == Opened("half-open", at(5), at(66))  # the probe is under way
    breaker.failed("a", at(38))
    assert breaker.state("a", at(39)) == Opened("open", at(5), at(68))
    breaker.succeeded("a")
    assert breaker.state("a", at(39)) is None


def test_a_pause_that_was_asked_for_ends_without_a_probe() -> None:
    breaker = Breaker(3, 30)
    breaker.failed("a", NOW, pause=10)
    assert breaker.state("a", at(9)) == Opened("open", NOW, at(10))
    assert breaker.state("a", at(10)) is None
    assert breaker.wait("a", at(11)) == 0
    breaker.failed("a", at(20), pause=10)
    assert breaker.state("a", at(21)) == Opened("open", at(20), at(30))
