"""No address has two functions: Azure's host would give it to the one whose name comes first."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.unit.functions.calls import TRIGGER_OF


def _overlap(one: list[str], other: list[str]) -> bool:
    """Whether some path fits both templates, which are lists of segments."""
    if any(segments and segments[0].startswith("{*") for segments in (one, other)):
        return True
    if not one or not other:
        return one == other
    same = "{" in one[0] + other[0] or one[0].lower() == other[0].lower()
    return same and _overlap(one[1:], other[1:])


def test_no_two_routes_with_one_method_fit_the_same_path() -> None:
    routes = {
        (name, method.value): str(trigger.route).split("/")
        for name, trigger in TRIGGER_OF.items()
        for method in trigger.methods or ()
    }
    assert len(routes) > 30

    twice = [
        (one, other)
        for (one, route), (other, another) in combinations(routes.items(), 2)
        if one[1] == other[1] and _overlap(route, another)
    ]
    assert twice == []


def test_each_route_says_its_methods() -> None:
    assert [name for name, trigger in TRIGGER_OF.items() if not trigger.methods] == []


@pytest.mark.parametrize(
    ("one", "other", "overlapping"),
    [
        ("jobs/{id}", "jobs/list", True),
        ("jobs/{id}", "JOBS/{name}", True),
        ("jobs/{*path}", "jobs/{id}/log", True),
        ("ui/{*path}", "ui", True),
        ("jobs/{id}/log", "jobs/{id}/files", False),
        ("jobs/{id}", "jobs", False),
    ],
)
def test_two_templates_overlap_where_a_path_fits_both(one: str, other: str, overlapping: bool) -> None:
    assert _overlap(one.split("/"), other.split("/")) is overlapping
