"""Clusters and nodes as `slipway nodes` shows them."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.commands.nodes import lines, select_clusters
from slipway.failure import Failure


def a_cluster(name: str = "dev", **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "engine": "batchai",
        "state": "steady",
        "nodes": 3,
        "counts": {"idle": 1, "preparing": 0, "running": 2},
        "minimum": 0,
        "maximum": 4,
        "size": "Standard_NC6",
        "errors": [],
        "priority": "lowpriority",
        "members": [],
    } | changes


def test_nodes_are_counted_by_what_they_do() -> None:
    head, row = lines([a_cluster()])

    assert head.split() == ["cluster", "engine", "state", "nodes", "size"]
    assert row == "dev      batchai  steady  3 of at most 4: 1 idle, 2 running  Standard_NC6 lowpriority"


def test_free_gpus_are_named_where_the_engine_shows_them() -> None:
    row = lines([a_cluster(gpus={"free": 5, "all": 16})])[1]

    assert "2 running; 5 of 16 GPUs free  Standard_NC6" in row


def test_a_cluster_without_a_limit_names_none() -> None:
    assert "  3: 1 idle, 2 running" in lines([a_cluster(maximum=None)])[1]


def test_nodes_that_are_not_listed_are_no_number() -> None:
    row = lines([a_cluster(state="not listed", nodes=0, counts={"idle": 0})])[1]

    assert "not listed  ? of at most 4  " in row


def test_each_node_is_shown_where_the_engine_names_them() -> None:
    members = [{"name": "gpu-1", "state": "idle"}, {"name": "gpu-2", "state": "allocated"}]

    reports = lines([a_cluster(), a_cluster("gpu", members=members)])

    assert [line.split() for line in reports[4:]] == [
        ["node", "cluster", "state"],
        ["gpu-1", "gpu", "idle"],
        ["gpu-2", "gpu", "allocated"],
    ]


def test_what_is_wrong_with_a_cluster_is_said_below() -> None:
    reports = lines([a_cluster(errors=["no quota"]), {"name": "far", "error": "it did not answer"}])

    assert reports[2:] == ["dev: no quota", "far cannot be queried: it did not answer"]


def test_a_cluster_that_cannot_be_asked_is_no_empty_table() -> None:
    assert lines([{"name": "far", "error": "it did not answer"}]) == [
        "far cannot be queried: it did not answer"
    ]


def test_an_unknown_cluster_is_answered_with_those_that_there_are() -> None:
    result = [a_cluster("one"), a_cluster("two")]

    assert select_clusters("two", result) == [result[1]]
    with pytest.raises(Failure, match="there is no cluster three; clusters are: one, two"):
        select_clusters("three", result)
