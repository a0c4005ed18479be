"""What stands for the rest while one works: of each kind one, and each way at least once."""

from __future__ import annotations

import pytest

from tests.breadth import STRIDE, every_few, examples, one_each, pairs


def test_each_kind_has_a_representative() -> None:
    assert {len(word) for word in one_each(["a", "b", "cc", "d", "eee"], len)} == {1, 2, 3}


@pytest.mark.parametrize(("cases", "ways"), [("abc", "xy"), ("ab", "xyz"), ("a", "xyz")])
def test_each_case_and_each_way_occurs(cases: str, ways: str) -> None:
    result = pairs(cases, ways)

    assert {case for case, _ in result} == set(cases)
    assert {way for _, way in result} == set(ways)
    assert len(set(result)) == len(result)


@pytest.mark.parametrize("count", [1, STRIDE - 1, STRIDE, STRIDE + 1, 5 * STRIDE])
def test_so_many_turns_in_a_row_try_every_case_and_each_turn_tries_one(count: int) -> None:
    shares = [every_few(range(count), number) for number in range(7, 7 + STRIDE)]

    assert {case for share in shares for case in share} == set(range(count))
    assert all(shares)


def test_some_examples_are_always_tried() -> None:
    assert 20 <= examples(30) <= 30
    assert examples(600) >= 100
