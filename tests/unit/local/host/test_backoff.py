"""The random exponential back-off of queue polling, with given randomness."""

from local.host.triggers.backoff import Backoff


def test_delays_double_up_to_the_limit() -> None:
    backoff = Backoff(1.0, random=lambda: 0.5)

    assert [round(backoff.delay(), 3) for _ in range(6)] == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]


def test_a_reset_starts_again_from_the_shortest() -> None:
    backoff = Backoff(1.0, random=lambda: 0.5)
    for _ in range(4):
        backoff.delay()

    backoff.reset()

    assert round(backoff.delay(), 3) == 0.1


def test_randomness_spreads_by_a_fifth_and_never_over_the_limit() -> None:
    low, high = Backoff(1.0, random=lambda: 0.0), Backoff(1.0, random=lambda: 0.999)

    assert round(low.delay(), 3) == 0.08
    assert round(high.delay(), 2) == 0.12
    assert all(high.delay() <= 1.0 for _ in range(10))


def test_a_limit_below_the_first_delay_is_the_only_delay() -> None:
    backoff = Backoff(0.005, random=lambda: 0.5)

    assert [round(backoff.delay(), 4) for _ in range(3)] == [0.005] * 3
    backoff.reset()
    assert round(backoff.delay(), 4) == 0.005
    assert Backoff(0.0, random=lambda: 0.5).delay() == 0.001
