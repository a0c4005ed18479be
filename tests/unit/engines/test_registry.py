"""The registry of engines: one entry adds an engine, and one table of settings configures all of them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from shared.configured import ConfiguredEngines
from shared.core.errors import Misconfigured
from shared.core.job import JobState
from shared.engines.entry import Entry
from shared.engines.provisioning import Plan, Step
from shared.engines.registry import ENGINES
from shared.setting_table import Setting
from shared.settings import Settings, table_of
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import World, job_json

SLURM = {"url": "https://head:6820", "user": "slipway", "shared": "/shared"}
TOY = {
    **ENGINES,
    "toy": Entry(
        title="Toy",
        package="tests.unit.engines.toy",
        settings={"SLIPWAY_TOY_BOX": Setting("clusters", "whole", "3", "nodes of clusters that say nothing")},
    ),
}


def engines_of(table: Any, **values: str) -> ConfiguredEngines:
    text = table if isinstance(table, str) else json.dumps(table)
    return ConfiguredEngines(Settings({"SLIPWAY_CLUSTERS": text, **values}, table_of(TOY)), TOY)


async def test_an_engine_from_outside_runs_a_job() -> None:
    engines = engines_of({"small": {"engine": "toy", "nodes": 2}})
    world = World()
    (cluster,) = engines.clusters.values()
    world.use(engines=engines)
    clusters = {cluster.name: cluster.id}
    world.policy(completion=replace(world.ports.policy.completion, cluster_id=cluster.id, clusters=clusters))

    job = (await world.message({"spec": job_json()})).job
    engine = engines.get("toy")
    assert isinstance(engine, MemoryEngine)
    engine.set_state(engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()

    assert cluster.facts.max_nodes == 2
    assert (await world.job(job.id)).state is JobState.SUCCEEDED


@pytest.mark.parametrize(("values", "nodes"), [({}, 3), ({"SLIPWAY_TOY_BOX": "5"}, 5)])
def test_an_engine_from_outside_brings_its_own_settings(values: dict[str, str], nodes: int) -> None:
    (cluster,) = engines_of({"small": {"engine": "toy", "big": True}}, **values).clusters.values()
    assert cluster.facts.max_nodes == nodes

    settings = Settings(values, table_of(TOY))
    settings.check()
    assert settings.unknown() == {}
    with pytest.raises(Misconfigured, match="SLIPWAY_TOY_BOX must be a number from 0"):
        Settings({"SLIPWAY_TOY_BOX": "-1"}, table_of(TOY)).check()


async def test_an_engine_from_outside_makes_its_clusters() -> None:
    engines = engines_of({"small": {"engine": "toy", "nodes": 2}, "gpu": {"engine": "slurm", **SLURM}})
    make = engines.provision_of("small")
    assert make is not None
    (stage,) = make("small", Plan())
    assert (stage.service, [step async for step in stage.steps]) == ("toys", [Step("cluster", "small", True)])
    assert engines.provision_of("gpu") is None, "an operator makes those"
    with pytest.raises(Misconfigured, match="cluster none is not configured"):
        engines.provision_of("none")


def test_no_cluster_is_made_where_there_is_no_service_for_it() -> None:
    make = engines_of({"old": {"engine": "batchai"}}).provision_of("old")
    assert make is not None
    with pytest.raises(Misconfigured, match="SLIPWAY_BATCHAI_URL names no Batch AI API"):
        list(make("old", Plan()))


def test_one_table_holds_clusters_of_all_engines() -> None:
    table = {"gpu": {"engine": "slurm", **SLURM}, "old": {"engine": "batchai", "maxNodes": 4}}
    result = engines_of(table).clusters
    assert [(name, one.engine, one.facts.max_nodes) for name, one in result.items()] == [
        ("gpu", "slurm", None),
        ("old", "batchai", 4),
    ]


@pytest.mark.parametrize(
    ("values", "default"),
    [
        ({}, "a"),
        ({"SLIPWAY_BATCHAI_URL": "http://127.0.0.1:7080"}, "a"),
        ({"SLIPWAY_CLUSTER": "B"}, "b"),
    ],
)
def test_the_default_cluster_is_one_of_the_table_with_any_other_setting(
    values: dict[str, str], default: str
) -> None:
    result = engines_of({"a": {"engine": "batchai"}, "b": {"engine": "toy", "nodes": 1}}, **values).clusters
    assert (next(iter(result)), set(result)) == (default, {"a", "b"})


def test_a_default_cluster_that_the_table_does_not_describe_is_named() -> None:
    with pytest.raises(Misconfigured, match="SLIPWAY_CLUSTER is gpus, and SLIPWAY_CLUSTERS describes gpu"):
        engines_of({"gpu": {"engine": "toy"}}, SLIPWAY_CLUSTER="gpus")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("[1]", "SLIPWAY_CLUSTERS must be an object"),
        ("{", "SLIPWAY_CLUSTERS is not JSON"),
        ({"a": 1}, "SLIPWAY_CLUSTERS: a must be an object of options"),
        (
            {"a": {"nodes": 1}},
            "SLIPWAY_CLUSTERS: a: engine is one of batchai, slurm, batch, kubernetes, toy, and is missing",
        ),
        ({"a": {"engine": "ray"}}, "a: engine is one of batchai, slurm, batch, kubernetes, toy, not 'ray'"),
        ({"a": {"engine": ["x"]}}, "a: engine is one of batchai, slurm, batch, kubernetes, toy, not ['x']"),
        ({"a": {"engine": "slurm", **SLURM, "uri": 1}}, "SLIPWAY_CLUSTERS: a: there is no option 'uri'"),
        ({"a": {"engine": "batchai", "gpus": "x"}}, "SLIPWAY_CLUSTERS: a: gpus has the wrong type"),
        ({"": {"engine": "toy"}}, "SLIPWAY_CLUSTERS: '' cannot be the name of a cluster"),
        ({"a/b": {"engine": "toy"}}, "SLIPWAY_CLUSTERS: 'a/b' cannot be the name of a cluster"),
        ({" a": {"engine": "toy"}}, "SLIPWAY_CLUSTERS: ' a' cannot be the name of a cluster"),
        ({"a": {"engine": "toy"}, "A": {"engine": "toy"}}, "SLIPWAY_CLUSTERS: a and A are one name"),
        ({"a": {"engine": "batchai"}, "A": {"engine": "toy"}}, "SLIPWAY_CLUSTERS: a and A are one name"),
        ({"a": {}}, "SLIPWAY_CLUSTERS: a: engine is one of"),
        ("a, b", "SLIPWAY_CLUSTERS is not JSON"),
    ],
)
def test_a_mistake_in_the_table_is_named_with_its_place(table: Any, message: str) -> None:
    with pytest.raises(Misconfigured, match=re.escape(message)):
        engines_of(table)
