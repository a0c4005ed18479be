"""Numbers out of lines that no one vouches for: which are taken, how many, and what is kept of them."""

from __future__ import annotations

import json
import math
from array import array
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.operate.files import series
from shared.operate.files.series import (
    LONGEST_LINE,
    MOST_SERIES,
    Collector,
    Points,
    Series,
    sampled,
    whole_lines,
)
from tests.breadth import examples

#: The file of every line here.
FILE = "stdouterr/stdout.txt"


def collected(text: str | bytes, *, wrapped: bool = True) -> dict[tuple[str, str, int | None], list[Any]]:
    """The points of each series, by name, axis and rank."""
    collector = Collector()
    collector.add(FILE, text if isinstance(text, bytes) else text.encode(), 0, wrapped=wrapped)
    return {
        (one.name, one.axis, one.rank): list(zip(points.xs, points.ys, strict=True))
        for one, points in collector.series.items()
    }


def test_each_number_of_a_line_is_a_point_over_the_first_axis_that_the_line_has() -> None:
    text = """epoch 1 of 3
{"slipway": {"epoch": 1, "loss": 0.5, "accuracy": 0.25}}
{"slipway": {"epoch": 2, "loss": 0.25, "note": "better"}}
{"slipway": {"step": 7, "epoch": 3, "loss": 0.1}}
{"slipway": {"time": 1763873512, "loss": 4}}
{"slipway": {"loss": 5}}
"""
    assert collected(text) == {
        ("loss", "epoch", None): [(1, 0.5), (2, 0.25)],
        ("accuracy", "epoch", None): [(1, 0.25)],
        ("loss", "step", None): [(7, 0.1)],
        ("loss", "time", None): [(1763873512, 4)],
        ("loss", "line", None): [(5, 5)],
    }


def test_ranks_have_series_of_their_own() -> None:
    ranks = (0, 1, -1, True, "2", 10**9)
    lines = [json.dumps({"slipway": {"step": at, "rank": rank, "loss": 5}}) for at, rank in enumerate(ranks)]
    assert collected("\n".join(lines)) == {
        ("loss", "step", 0): [(0, 5)],
        ("loss", "step", 1): [(1, 5)],
        ("loss", "step", None): [(2, 5), (3, 5), (4, 5), (5, 5)],
    }


def test_a_file_of_numbers_needs_no_wrapping_and_may_have_it() -> None:
    text = '{"epoch": 1, "loss": 1}\n{"slipway": {"epoch": 2, "loss": 2}}\n'
    assert collected(text, wrapped=False) == {("loss", "epoch", None): [(1, 1), (2, 2)]}
    assert collected(text) == {("loss", "epoch", None): [(2, 2)]}


@pytest.mark.parametrize(
    "line",
    [
        '{"slipway": {"a": NaN, "b": Infinity, "c": 1e999, "d": -Infinity}}',
        '{"slipway": {"a": ' + "9" * 4000 + "}}",
        '{"slipway": {"a": ' + "9" * 5000 + "}}",
        '{"slipway": {"a": true, "b": "1", "c": null, "d": [1], "e": {"f": 1}}}',
        '{"slipway": {"": 1, " ": 1, "a\\u001b[2J": 1, "a\\u202eb": 1, "' + "n" * 65 + '": 1}}',
        '{"slipway": [1]}',
        '{"slipway": 1}',
        '{"slipway": {"epoch": 1, "step": 2, "rank": 3}}',
        '["slipway", {"a": 1}]',
        '{"slipway"' + "[" * 4000,
        '{"slipway":' * 700,
        '{"slipway": {"a": 1}} and more',
        'loss: {"slipway": {"a": 1}}',
        '{"slipway": {"a": 1, "b": "' + "x" * LONGEST_LINE + '"}}',
        '{"slipway": {"a": 1}',
    ],
)
def test_what_is_no_number_of_a_job_is_passed_by(line: str) -> None:
    following = '\n{"slipway": {"epoch": 1, "loss": 2}}'
    assert collected(line + following) == {("loss", "epoch", None): [(1, 2)]}


def test_bytes_that_are_no_text_are_passed_by() -> None:
    assert collected(b'{"slipway": {"a\xff": 1}}\n{"slipway": {"step": 0, "b": 1}}') == {
        ("b", "step", None): [(0, 1)]
    }


def test_series_beyond_the_bound_are_counted_and_not_kept() -> None:
    lines = [json.dumps({"slipway": {"step": 1, f"m{number}": 1}}) for number in range(MOST_SERIES + 7)]
    collector = Collector()

    assert collector.add(FILE, "\n".join(lines).encode(), 3, wrapped=True) == 3 + len(lines)

    assert len(collector.series) == MOST_SERIES
    assert collector.left_out == 7


def test_a_line_has_a_bounded_number_of_numbers() -> None:
    line = json.dumps({"slipway": {f"m{number}": 1 for number in range(500)}})
    assert len(collected(line)) == series._MOST_NUMBERS


@settings(max_examples=examples(300), deadline=None)
@given(st.binary(max_size=300))
def test_of_any_bytes_only_finite_numbers_come(data: bytes) -> None:
    for wrapped in (True, False):
        for points in collected(b'{"slipway": ' + data, wrapped=wrapped).values():
            assert all(math.isfinite(x) and math.isfinite(y) for x, y in points)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=70), inner, max_size=5),
    max_leaves=12,
)


@settings(max_examples=examples(300), deadline=None)
@given(st.dictionaries(st.sampled_from(["step", "epoch", "rank", "loss", "a"]) | st.text(), _JSON))
def test_of_any_object_only_its_finite_numbers_are_taken(members: dict[str, Any]) -> None:
    numbers = {
        name: float(value)
        for name, value in members.items()
        if type(value) in (int, float) and abs(value) < 1e300 and math.isfinite(value)
    }

    result = collected(json.dumps({"slipway": members}))

    assert {name: points[0][1] for (name, *_), points in result.items() if abs(points[0][1]) < 1e300} == {
        name: numbers[name] for name, *_ in result if name in numbers
    }
    expected = {name for name in numbers if name.isprintable() and name.strip() and len(name) <= 64}
    assert expected - {"step", "epoch", "time", "rank"} <= {name for name, *_ in result}


@settings(max_examples=examples(400), deadline=None)
@given(
    st.lists(st.text("ab\r", max_size=6), max_size=12),
    st.booleans(),
    st.lists(st.integers(1, 9), min_size=1, max_size=20),
)
def test_a_file_in_parts_has_the_lines_that_it_has_as_a_whole(
    texts: list[str], broken_off: bool, sizes: list[int]
) -> None:
    """As it is read: each part from the byte before the place where reading goes on."""
    whole = "\n".join(texts).encode() + (b"" if broken_off else b"\n")
    offset, read, lines, at = 0, 0, [], 0
    while read < len(whole):
        read = min(len(whole), read + sizes[at % len(sizes)])
        at += 1
        start = max(0, offset - 1)
        result = whole_lines(whole[start:read], begins=not offset, ends=read == len(whole))
        offset = start + result.done
        lines += result.text.split(b"\n") if result.text else []

    assert offset == len(whole)
    assert [line for line in lines if line] == [line for line in whole.split(b"\n") if line]


def test_a_line_that_is_too_long_is_left_behind_with_all_that_stands_in_it() -> None:
    secret = b'{"slipway": {"a": 1}}'
    whole = b"x" * (3 * LONGEST_LINE) + secret + b"\n" + b'{"slipway": {"b": 1}}\n'
    offset, text = 0, b""
    while offset < len(whole):
        start = max(0, offset - 1)
        part = whole[start : start + 2 * LONGEST_LINE]
        result = whole_lines(part, begins=not offset, ends=start + len(part) == len(whole))
        assert result.done > offset - start
        offset, text = start + result.done, text + result.text

    assert text == b'{"slipway": {"b": 1}}\n'


def test_an_unfinished_line_waits_for_its_end() -> None:
    assert whole_lines(b"one\ntw", begins=True, ends=False) == series.Lines(b"one\n", 4)
    assert whole_lines(b"\ntw", begins=False, ends=False) == series.Lines(b"", 1)
    assert whole_lines(b"\ntwo\n", begins=False, ends=False) == series.Lines(b"two\n", 5)
    assert whole_lines(b"\ntw", begins=False, ends=True) == series.Lines(b"tw", 3)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=200), st.integers(4, 60))
def test_a_sample_keeps_order_ends_and_extremes(values: list[float], most: int) -> None:
    points = Points(array("d", range(len(values))), array("d", values))

    sample = sampled(points, most)

    assert len(sample) <= most
    assert sample == [[x, values[int(x)]] for x, _ in sample]
    assert [x for x, _ in sample] == sorted({x for x, _ in sample})
    if values:
        assert (sample[0][0], sample[-1][0]) == (0, len(values) - 1)
        assert {min(values), max(values)} <= {y for _, y in sample}
    if len(values) <= most:
        assert len(sample) == len(values)


def test_a_sample_is_even() -> None:
    points = Points(array("d", range(10_000)), array("d", range(10_000)))
    xs = [int(x) for x, _ in sampled(points, 102)]
    assert max(after - before for before, after in pairwise(xs)) <= 200


def test_whole_numbers_are_shown_as_such() -> None:
    shown = sampled(Points(array("d", [1, 2]), array("d", [3, 2.0**60])), 4)
    assert json.dumps(shown) == "[[1, 3], [2, 1.152921504606847e+18]]"


def test_one_name_in_two_files_is_two_series() -> None:
    collector = Collector()
    for file in ("a/metrics.jsonl", "b/metrics.jsonl"):
        collector.add(file, b'{"step": 1, "loss": 1}', 0, wrapped=False)
    assert set(collector.series) == {
        Series("loss", "a/metrics.jsonl", "step"),
        Series("loss", "b/metrics.jsonl", "step"),
    }
