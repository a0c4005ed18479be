"""Patience with other processes, by a clock that the test owns."""

from local.patience import Patience


def test_patience_counts_from_the_last_change_and_not_in_total() -> None:
    now = 0.0
    patience = Patience(10, lambda: now)

    for state in range(20):
        now += 9
        assert not patience.is_over(state)
    now += 10
    assert not patience.is_over(19)
    now += 1
    assert patience.is_over(19)
    assert not patience.is_over(20), "something happened after all"


def test_patience_with_what_never_begins_ends_as_well() -> None:
    now = 0.0
    patience = Patience(10, lambda: now)

    now = 11.0

    assert patience.is_over(None)
