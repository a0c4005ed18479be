"""What stands for the rest while one works: of each kind one, and each way at least once."""

from __future__ import annotations

import pytest

from tests import breadth
from tests.breadth import (
    STRIDE,
    every_few,
    examples,
    in_turn,
    one_each,
    pairs,
    rounds,
    share,
    size,
    some_each,
    try_everything,
    usual_examples,
)


def test_each_kind_has_a_representative() -> None:
    assert {len(word) for word in one_each(["a", "b", "cc", "d", "eee"], len)} == {1, 2, 3}


def _run_is(monkeypatch: pytest.MonkeyPatch, *, thorough: bool, every_fault: bool = False) -> None:
    monkeypatch.setattr(breadth, "_everything", thorough)
    monkeypatch.setattr(breadth, "_every_fault", every_fault)


@pytest.mark.parametrize(("cases", "ways"), [("abc", "xy"), ("ab", "xyz"), ("a", "xyz")])
def test_each_case_and_each_way_occurs(cases: str, ways: str) -> None:
    result = pairs(cases, ways)

    assert {case for case, _ in result} == set(cases)
    assert {way for _, way in result} == set(ways)
    assert len(set(result)) == len(result)


def test_of_each_test_the_first_case_is_tried_and_the_others_take_turns() -> None:
    cases = [f"{module} {test}{case}" for module in "mn" for test in "abcd" for case in (0, 1, 2, 3)]
    chosen = some_each([*cases, "n e0"], lambda case: (case[0], case[2]), 2)

    each = ["a0", "a1", "b0", "b2", "c0", "c3", "d0", "d1"]
    assert chosen == [f"{module} {case}" for module in "mn" for case in each] + ["n e0"]


@pytest.mark.parametrize("number", range(1, 12))
@pytest.mark.parametrize("place", range(4))
def test_of_a_test_as_many_cases_are_tried_as_are_asked_for_or_all(number: int, place: int) -> None:
    cases = [*(f"{one}" for one in range(place)), *(f"t{case}" for case in range(9))]
    chosen = some_each(cases, lambda case: ("m", case[0]), number)[place:]

    assert chosen[0] == "t0"
    assert len(chosen) == len(set(chosen)) == min(number, 9)


@pytest.mark.parametrize("count", [1, STRIDE - 1, STRIDE, STRIDE + 1, 5 * STRIDE])
def test_so_many_turns_in_a_row_try_every_case_and_each_turn_tries_one(count: int) -> None:
    turns = [every_few(range(count), number) for number in range(7, 7 + STRIDE)]

    assert {case for chosen in turns for case in chosen} == set(range(count))
    assert all(turns)


def test_tests_that_divide_cases_among_them_try_each_once_and_a_thorough_run_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _run_is(monkeypatch, thorough=False)
    assert sorted(case for number in range(5, 8) for case in share("abcdefgh", number, 3)) == [*"abcdefgh"]

    _run_is(monkeypatch, thorough=True)
    assert share("abcdefgh", 1, 3) == [*"abcdefgh"]


def test_a_thorough_run_may_try_one_of_three_and_every_fault_tries_each() -> None:
    before, results = (breadth._everything, breadth._every_fault, breadth._only_some), {}
    for every_fault in (False, True):
        try_everything(expected=True, every_fault=every_fault)
        results[every_fault] = [every_few(range(10), number, thorough=3) for number in range(3)]
    try_everything(before[0], every_fault=before[1], only_some=before[2])

    assert results == {False: [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]], True: [list(range(10))] * 3}


@pytest.mark.parametrize("members", ["ab", "abc", "abcdef", "abcdefg"])
def test_in_each_round_a_member_occurs_once_and_all_rounds_have_every_pair(
    members: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run_is(monkeypatch, thorough=False)
    singly = [rounds(members, number) for number in range(7)]
    _run_is(monkeypatch, thorough=True)
    every = rounds(members, 0)

    for pairs_of_round in every:
        names = [name for pair in pairs_of_round for name in pair]
        assert len(names) == len(set(names)) >= len(members) - 1
    assert sorted("".join(sorted(pair)) for one in every for pair in one) == [
        f"{one}{other}" for one in members for other in members if one < other
    ]
    assert all(len(one) == 1 for one in singly)
    assert {str(one) for (one,) in singly} == {str(one) for one in every}


def test_some_examples_are_always_tried_and_fewer_where_some_cases_are() -> None:
    before = (breadth._everything, breadth._every_fault, breadth._only_some)
    results = []
    for everything, only_some in ((True, False), (True, True), (False, False), (False, True)):
        try_everything(everything, only_some=only_some)
        results.append((examples(30), examples(600), usual_examples(), size(9, 5), size(9, 5, 2)))
    try_everything(before[0], every_fault=before[1], only_some=before[2])

    assert results == [
        (30, 600, 100, 9, 9),
        (30, 600, 100, 9, 9),
        (20, 120, 100, 5, 5),
        (10, 60, 10, 5, 2),
    ]


@pytest.mark.parametrize("kinds", [5, 6, 7, 9, 11, 12])
@pytest.mark.parametrize("count", [1, 5, 6, 12, 23, 31, 48])
def test_the_kinds_of_fault_take_the_cases_in_turn(
    count: int, kinds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run_is(monkeypatch, thorough=True)
    shares = [in_turn(range(count), kind, kinds, row=2) for kind in range(kinds)]

    assert all(shares)
    if count >= kinds:
        assert sorted(case for share in shares for case in share) == list(range(count))
    if count > 2 * kinds:
        assert all({case % 2 for case in share} == {0, 1} for share in shares)


def test_a_rare_case_meets_every_kind_of_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    _run_is(monkeypatch, thorough=True)
    shares = [in_turn(range(20), kind, 7, row=1, rare={3, 4}) for kind in range(7)]

    assert all({3, 4} <= set(share) for share in shares)
    assert all(sum(case in share for share in shares) == 1 for case in range(20) if case not in (3, 4))


def test_every_fault_is_tried_in_every_case_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    _run_is(monkeypatch, thorough=True, every_fault=True)

    assert in_turn(range(7), 3, 5, row=1) == list(range(7))
