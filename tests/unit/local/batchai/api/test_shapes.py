"""Bodies of requests against their shapes, and durations."""

from typing import Any

import pytest

from local.batchai.api.shapes import Many, Object, Text, Whole, Words, check, seconds

SHAPE = Object(
    {"name!": Text(), "count": Whole(1), "kind": Text(("a", "b")), "tags": Words(), "list": Many(Text())},
    "id",
)


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ({"name": "x", "count": 1, "kind": "a", "tags": {"k": "v"}, "list": ["y"]}, []),
        ({"name": "x", "id": 5, "count": None}, []),
        ({}, ["/name"]),
        ({"name": None}, ["/name"]),
        ({"name": 1}, ["/name"]),
        ({"name": "x", "count": True}, ["/count"]),
        ({"name": "x", "count": 1.0}, ["/count"]),
        ({"name": "x", "count": 0}, ["/count"]),
        ({"name": "x", "count": 2**31}, ["/count"]),
        ({"name": "x", "kind": "c"}, ["/kind"]),
        ({"name": "a\0b"}, ["/name"]),
        ({"name": "\ud800"}, ["/name"]),
        ({"name": "x", "tags": {"k": 1}}, ["/tags"]),
        ({"name": "x", "list": ["y", 1, None]}, ["/list/1", "/list/2"]),
        ({"name": "x", "list": "y"}, ["/list"]),
        ({"name": "x", "a/b~c": 1}, ["/a~1b~0c"]),
        ([], [""]),
    ],
)
def test_a_document_is_checked_against_its_shape(value: Any, places: list[str]) -> None:
    _, problems = check(value, SHAPE)

    assert [problem.target for problem in problems] == places


def test_nulls_and_read_only_fields_are_taken_out() -> None:
    assert check({"name": "x", "id": "y", "count": None}, SHAPE) == ({"name": "x"}, [])


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("P7D", 604800),
        ("P1W", 604800),
        ("PT36H", 129600),
        ("PT1.5S", 1.5),
        ("P1DT2H48M5.4775807S", 96485.4775807),
        ("P1DT1M", 86460),
        ("P", None),
        ("PT", None),
        ("P1DT", None),
        ("P1M", None),
        ("7.00:00:00", None),
        ("-P1D", None),
        ("", None),
    ],
)
def test_durations_are_read_as_iso_8601(text: str, length: float | None) -> None:
    assert seconds(text) == length
