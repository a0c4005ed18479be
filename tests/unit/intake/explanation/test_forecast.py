"""What can be said before a job runs: limits, wait, prices; each with its reason, none of it guessed."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.configured import ConfiguredEngines
from shared.core.cost.prices import matching, prices_from, shipped
from shared.core.engine import ClusterView, too_large
from shared.core.errors import Misconfigured
from shared.core.facts import NO_FACTS, UNLISTED, ClusterFacts, Supply
from shared.engines.batch.sizes import LIVING
from shared.intake.explanation.forecast import Ahead, cost, limits, wait
from shared.jobspec import Limits
from shared.settings import Settings
from shared.wiring import policy_of
from tests.unit.priced_cluster import ROW, view_of

NOT_LISTED = replace(view_of(), state=UNLISTED, nodes=0, counts={}, maximum=None)
GROWS = "nodes have to start; up to 15 minutes is an assumption, not a measurement"
FULL = "the cluster cannot grow by {} nodes before others are free; "


@pytest.mark.parametrize(
    ("nodes", "view", "ahead", "start", "end", "reason"),
    [
        (1, None, None, None, None, "unknown, because the cluster was not queried"),
        (1, NOT_LISTED, None, 0, None, "unknown, because the nodes of the cluster are not listed"),
        (
            9,
            replace(NOT_LISTED, maximum=4),
            None,
            None,
            None,
            "can never start as things stand: the job asks for 9 nodes, the cluster has at most 4",
        ),
        (1, view_of(), Ahead(0, 0), 0, 60, "1 nodes are idle, 1 are asked for"),
        (0, view_of(counts={}), None, 0, 60, "0 nodes are idle, 0 are asked for"),
        (3, view_of(), Ahead(0, 9), 0, 900, f"2 of 3 {GROWS}"),
        (4, view_of(), None, 0, 900, f"3 of 4 {GROWS}"),
        (1, view_of(counts={}, nodes=2), None, 0, 900, f"1 of 1 {GROWS}"),
        (
            3,
            view_of(supply=Supply(growth="before that, it waits")),
            None,
            0,
            900,
            f"2 of 3 {GROWS}; before that, it waits",
        ),
        (
            3,
            view_of(errors=("AllocationFailed: none",)),
            None,
            0,
            None,
            "2 of 3 nodes have to start, and the cluster reports: AllocationFailed: none",
        ),
        (
            1,
            view_of(),
            Ahead(2, 1),
            0,
            None,
            "2 jobs of this deployment wait on the cluster before it; how long is not known",
        ),
        (
            1,
            view_of(),
            Ahead(1, 0),
            0,
            None,
            "1 job of this deployment waits on the cluster before it; how long is not known",
        ),
        (
            3,
            view_of(nodes=3, counts={"running": 2, "idle": 1}),
            Ahead(0, 1),
            0,
            None,
            FULL.format(2) + "1 job of this deployment runs there",
        ),
        (4, view_of(nodes=4, counts={}), None, 0, None, FULL.format(4) + "others use its nodes"),
    ],
)
def test_the_expected_wait_is_a_range_with_its_reason(
    nodes: int, view: ClusterView | None, ahead: Ahead | None, start: int | None, end: int | None, reason: str
) -> None:
    assert wait(nodes, view, ahead) == {"from": start, "to": end, "reason": reason}


@pytest.mark.parametrize(("nodes", "view"), [(5, view_of()), (2, view_of(maximum=None))])
def test_a_job_that_is_larger_than_its_cluster_never_starts(nodes: int, view: ClusterView) -> None:
    assert wait(nodes, view, Ahead(1, 1)) == {"from": None, "to": None, "reason": too_large(nodes, view)}


def test_each_limit_says_what_is_asked_what_is_allowed_and_whether_it_is_met() -> None:
    def limit(name: str, request: Any, allowed: Any, met: bool | None = True, **why: str) -> dict[str, Any]:
        return {"name": name, "asked": request, "allowed": allowed, "met": met, **why}

    allowed, day = Limits(max_nodes=4, max_wall_clock=timedelta(days=2)), timedelta(days=1)
    own = [limit("nodes of a job", 4, 4), limit("wall-clock limit", "P2D", "P2D")]
    facts = ClusterFacts(longest=2 * day)
    unasked = limit("nodes of the cluster", 4, None, None, why="the cluster was not queried")
    assert limits(4, 2 * day, allowed, None, NO_FACTS) == [*own, unasked]
    assert limits(4, 2 * day, allowed, view_of(counts={"idle": 4}), facts) == [
        *own,
        limit("wall-clock limit of the cluster", "P2D", "P2D"),
        limit("nodes of the cluster", 4, 4),
    ]
    assert limits(4, 2 * day, allowed, view_of(errors=("no Quota",)), NO_FACTS)[-1] == limit(
        "quota for nodes", 4, None, False, why="no Quota"
    )
    unknown = "the cluster reports no lack of it; whether it is enough shows only when nodes are added"
    assert limits(4, 2 * day, allowed, view_of(errors=("a node is broken",)), NO_FACTS)[-1] == limit(
        "quota for nodes", 4, None, None, why=unknown
    )


def test_a_cost_goes_from_nothing_to_the_whole_wall_clock_limit() -> None:
    rows = prices_from([ROW, {**ROW, "perHour": 0.7}, {**ROW, "currency": "CHF", "perHour": 0.33333}])
    estimate = cost(3, timedelta(minutes=100), "Standard_NC6", "", rows)
    prices = estimate.pop("price")
    assert estimate == {
        "nodes": 3,
        "size": "Standard_NC6",
        "priority": None,
        "nodeHours": {"from": 0, "to": 5.0},
        "why": "3 nodes for at most PT1H40M; starting and idle nodes cost as well",
    }
    assert [{**price, "rows": len(price["rows"])} for price in prices] == [
        {"currency": "CHF", "perHour": {"from": 1.0, "to": 1.0}, "total": {"from": 0, "to": 1.67}, "rows": 1},
        {"currency": "EUR", "perHour": {"from": 1.5, "to": 2.1}, "total": {"from": 0, "to": 3.5}, "rows": 2},
    ]
    assert prices[1]["rows"][0] == ROW


@pytest.mark.parametrize(
    ("size", "note"),
    [("NC6", "no price known for NC6"), ("", "no price: the VM size of the cluster is not known")],
)
def test_without_a_price_it_says_which_is_missing_and_who_may_add_it(size: str, note: str) -> None:
    estimate = cost(1, timedelta(seconds=10), size, "dedicated", ())
    assert estimate == {
        "nodes": 1,
        "size": size or None,
        "priority": "dedicated",
        "nodeHours": {"from": 0, "to": 0.0028},
        "why": "1 nodes for at most PT10S; starting and idle nodes cost as well",
        "price": None,
        "note": f"{note}; an operator may add one with SLIPWAY_PRICES",
    }


def test_limits_that_are_not_met_say_so_and_quota_is_only_known_from_the_cluster() -> None:
    short = view_of(errors=("Core quota reached",))
    by_name = {one["name"]: one for one in limits(9, timedelta(days=9), Limits(max_nodes=8), short, NO_FACTS)}
    assert [
        by_name[name]["met"] for name in ("nodes of a job", "wall-clock limit", "nodes of the cluster")
    ] == [
        False,
        False,
        False,
    ]
    assert by_name["quota for nodes"]["why"] == "Core quota reached"
    fitting = {one["name"]: one for one in limits(2, timedelta(days=1), Limits(), view_of(), NO_FACTS)}
    assert fitting["quota for nodes"]["met"] is None
    assert "quota for nodes" not in {
        one["name"] for one in limits(1, timedelta(days=1), Limits(), view_of(), NO_FACTS)
    }


def test_a_cluster_may_say_how_its_quota_is_seen() -> None:
    rows = limits(3, timedelta(hours=1), Limits(), view_of(supply=Supply(quota="`az x` shows it")), NO_FACTS)

    assert rows[-1]["why"].endswith("shows only when nodes are added; `az x` shows it")


def test_a_job_that_a_known_quota_has_no_room_for_is_told_so_and_its_wait_is_unknown() -> None:
    view = view_of(supply=Supply(quota="the quota is 8 cores: 2 nodes", most=2))
    rows = {n: limits(n, timedelta(hours=1), Limits(), view, NO_FACTS)[-1] for n in (2, 3)}

    assert [(row["allowed"], row["met"]) for row in rows.values()] == [(2, None), (2, False)]
    assert rows[3]["why"] == "the quota is 8 cores: 2 nodes"
    assert wait(3, view, None) == {
        "from": None,
        "to": None,
        "reason": "2 of 3 nodes have to start, and the quota is 8 cores: 2 nodes",
    }
    assert wait(2, view, None)["to"] == 900


def test_a_cluster_that_lets_a_job_have_fewer_nodes_or_less_time_than_it_asks_for_says_so() -> None:
    facts = ClusterFacts(max_nodes=2, longest=timedelta(days=1))
    view = view_of(facts=facts)
    cluster_facts = {one["name"]: one for one in limits(3, timedelta(days=2), Limits(), view, facts)}

    assert cluster_facts["wall-clock limit of the cluster"]["met"] is False
    assert (
        cluster_facts["nodes of the cluster"]["allowed"],
        cluster_facts["nodes of the cluster"]["met"],
    ) == (2, False)
    assert "at most 2" in wait(3, view, Ahead(0, 0))["reason"]


def test_a_price_is_never_guessed() -> None:
    estimate = cost(2, timedelta(hours=1), "Standard_NC6", "lowpriority", ())
    assert estimate["price"] is None
    assert "no price known for Standard_NC6" in estimate["note"]


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
    assert all(row.source and row.date.year >= 2024 and 0.01 < row.per_hour < 150 for row in rows)
    spot = {(row.size, row.region): row.per_hour for row in rows if row.priority == "lowpriority"}
    dedicated = [row for row in rows if row.priority == "dedicated"]
    unknown = {row.size for row in dedicated if (row.size, row.region) not in spot}
    assert all("_H100_" in size for size in unknown)
    assert all(spot.get((row.size, row.region), 0) < row.per_hour for row in dedicated)


def test_each_size_that_answers_for_a_retired_one_has_a_price() -> None:
    for size in set(LIVING.values()):
        assert matching((), size, "dedicated", "eastus"), size


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
