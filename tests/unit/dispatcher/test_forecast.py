"""What can be said before a job runs: limits, wait, prices; each with its reason, none of it guessed."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from shared.configured import ConfiguredEngines
from shared.errors import Misconfigured
from shared.forecast import Ahead, cost, limits, wait
from shared.ports import ClusterView
from shared.prices import matching, prices_from, shipped
from shared.settings import Settings
from shared.spec import Limits
from shared.wiring import policy_of
from tests.unit.dispatcher.priced_cluster import ROW, view_of


@pytest.mark.parametrize(
    ("nodes", "view", "ahead", "expected"),
    [
        (1, None, None, (None, None, "not asked")),
        (1, view_of(), Ahead(0, 0), (0, 60, "idle")),
        (3, view_of(), Ahead(0, 0), (0, 900, "2 of 3 nodes have to start")),
        (5, view_of(), Ahead(0, 0), (None, None, "never")),
        (1, view_of(), Ahead(2, 1), (0, None, "2 jobs are")),
        (4, view_of(nodes=4, counts={"running": 4}), Ahead(0, 1), (0, None, "1 job is")),
        (2, view_of(maximum=None), Ahead(0, 0), (None, None, "may have 1")),
    ],
)
def test_the_expected_wait_is_a_range_with_its_reason(
    nodes: int, view: ClusterView | None, ahead: Ahead | None, expected: tuple[Any, Any, str]
) -> None:
    found = wait(nodes, view, ahead)
    assert (found["from"], found["to"]) == expected[:2]
    assert expected[2] in found["reason"]


def test_limits_that_are_not_met_say_so_and_quota_is_only_known_from_the_cluster() -> None:
    short = view_of(errors=("Core quota reached",))
    found = {one["name"]: one for one in limits(9, timedelta(days=9), Limits(max_nodes=8), short)}
    assert [
        found[name]["met"] for name in ("nodes of a job", "wall-clock limit", "nodes of the cluster")
    ] == [
        False,
        False,
        False,
    ]
    assert found["quota for nodes"]["why"] == "Core quota reached"
    fitting = {one["name"]: one for one in limits(2, timedelta(days=1), Limits(), view_of())}
    assert fitting["quota for nodes"]["met"] is None
    assert "quota for nodes" not in {one["name"] for one in limits(1, timedelta(days=1), Limits(), view_of())}


def test_a_price_is_never_guessed() -> None:
    found = cost(2, timedelta(hours=1), "Standard_NC6", "lowpriority", ())
    assert found["price"] is None
    assert "no price known for Standard_NC6" in found["note"]


def test_an_operators_prices_win_and_without_a_region_those_of_all_regions_count() -> None:
    own = prices_from(
        [ROW, {**ROW, "region": "westeurope", "perHour": 0.7}, {**ROW, "priority": "dedicated"}]
    )
    assert len(matching(own, "STANDARD_nc6", "lowpriority", "")) == 2
    assert [p.region for p in matching(own, "Standard_NC6", "lowpriority", "WestEurope")] == ["westeurope"]
    first = shipped()[0]
    assert matching(own, first.size, "dedicated", first.region) == (first,)
    assert matching((), "Standard_NC6", "lowpriority", "westeurope") == ()
    both = cost(1, timedelta(hours=2), "x", "", own[:2])["price"]
    assert both[0]["perHour"] == {"from": 0.5, "to": 0.7}


def test_every_price_that_ships_has_its_source_and_date() -> None:
    rows = shipped()

    assert len(rows) == len({(row.size, row.region, row.priority) for row in rows}) > 100
    assert all(row.source and row.date.year >= 2024 and 0.01 < row.per_hour < 100 for row in rows)
    spot = {(row.size, row.region): row.per_hour for row in rows if row.priority == "lowpriority"}
    dedicated = [row for row in rows if row.priority == "dedicated"]
    assert all(spot[row.size, row.region] < row.per_hour for row in dedicated)


def test_the_rows_that_ship_are_those_of_their_source() -> None:
    (dedicated,) = matching((), "standard_nc6", "dedicated", "westus2")
    (spot,) = matching((), "Standard_NC24rs_v3", "lowpriority", "EastUS")

    assert (dedicated.per_hour, spot.per_hour) == (0.9, 1.7498)
    assert len(matching((), "Standard_NC6", "dedicated", "")) == 2


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ({}, "a list"),
        ([{**ROW, "perHour": -1}], "row 0: perHour"),
        ([ROW, {**ROW, "date": "soon"}], "row 1: date"),
    ],
)
def test_wrong_prices_name_the_setting_and_the_row(rows: Any, match: str) -> None:
    connection = "AccountName=a;AccountKey=a2V5"
    settings = Settings({"SLIPWAY_STORAGE": connection, "SLIPWAY_PRICES": json.dumps(rows)})
    with pytest.raises(Misconfigured, match=f"SLIPWAY_PRICES: .*{match}"):
        policy_of(settings, ConfiguredEngines(settings).clusters)
