"""What is known of a cluster decides about its jobs: configured of it, or said by its engine."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.configured import ConfiguredEngines
from shared.core.errors import Misconfigured
from shared.core.facts import ClusterFacts, combined_facts
from shared.core.job import JobState
from shared.intake.desk.prepare import prepare
from shared.intake.message import Request, read_request
from shared.intake.request_door import request_explained, request_validated
from shared.jobspec import Envelope, Limits
from shared.settings import Settings
from shared.wiring import build
from tests.unit.world import CLUSTER, Engines, World, job_json

SETTINGS = {
    "SLIPWAY_STORAGE": "AccountName=acct;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:1/acct",
    "SLIPWAY_BATCHAI_URL": "http://127.0.0.1:7080",
}
_BOUNDS = {"engine": "batchai", "maxNodes": 2, "gpus": 1, "maxWallClock": "PT24H"}
BOUNDED = {**SETTINGS, "SLIPWAY_CLUSTERS": json.dumps({"dev": _BOUNDS})}
DAY = timedelta(days=1)
LONG = {"constraints": {"maxWallClockTime": "P2D"}}
MPI = {"customToolkitSettings": None, "customMpiSettings": {"commandLine": "true", "processCount": 4}}


def request(cluster: str | None = None, **properties: Any) -> Request:
    document = job_json(**properties)
    document["properties"] = {n: v for n, v in document["properties"].items() if v is not None}
    return Request(Envelope(cluster=cluster), document, "p")


@pytest.mark.parametrize(
    ("properties", "code", "valid"),
    [({"nodeCount": 3}, "SW075", True), (LONG, "SW074", False), (MPI, "SW076", True)],
)
def test_a_job_beyond_the_cluster_is_warned_of_or_refused(
    properties: dict[str, Any], code: str, valid: bool
) -> None:
    prepared = prepare(build(Settings(BOUNDED)), request(**properties), key="k")
    quiet = prepare(build(Settings(SETTINGS)), request(**properties), key="k")

    assert code in {problem.code for problem in prepared.problems}
    assert prepared.valid is valid
    assert code not in {problem.code for problem in quiet.problems}


def test_each_cluster_has_facts_of_its_own() -> None:
    slurm = {"url": "https://head:6820", "user": "u", "shared": "/s", "maxWallClock": "PT1H", "gpus": 8}
    own = {"mounted": ["data"], "maxNodes": 16, "gpus": 4, "nodeMemory": 1024, "maxWallClock": "P3D"}
    values = {
        **SETTINGS,
        "SLIPWAY_CLUSTER": "dev-cluster-00",
        "SLIPWAY_CLUSTERS": json.dumps(
            {
                "plain": {"engine": "batchai"},
                "large": {"engine": "batchai", **own},
                "gpu": {"engine": "slurm", **slurm},
                "bare": {"engine": "slurm", **slurm, "maxWallClock": "", "gpus": 0},
            }
        ),
    }

    facts = {name: one.facts for name, one in ConfiguredEngines(Settings(values)).clusters.items()}

    assert facts == {
        "dev-cluster-00": ClusterFacts(),
        "plain": ClusterFacts(),
        "large": ClusterFacts(frozenset({"data"}), 16, 4, 1024, timedelta(days=3)),
        "gpu": ClusterFacts(gpus=8, longest=timedelta(hours=1)),
        "bare": ClusterFacts(),
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nodes": 1}, "no option 'nodes'"),
        ({"gpus": True}, "gpus has the wrong type"),
        ({"mounted": [1]}, "mounted has the wrong type"),
        ({"maxWallClock": "24h"}, "not an ISO 8601 duration"),
    ],
)
def test_a_mistake_in_the_facts_is_named_with_its_place(options: Any, message: str) -> None:
    values = {"SLIPWAY_CLUSTERS": json.dumps({"a": {"engine": "batchai", **options}})}
    with pytest.raises(Misconfigured, match=f"SLIPWAY_CLUSTERS: a: .*{message}"):
        ConfiguredEngines(Settings(values))


def test_limits_bound_each_other_mounts_add_up_and_configured_hardware_counts() -> None:
    configured = ClusterFacts(frozenset({"a"}), 4, 2, None, timedelta(hours=2))
    read = ClusterFacts(frozenset({"b"}), 8, 1, 4096, timedelta(hours=1))

    expected = ClusterFacts(frozenset({"a", "b"}), 4, 2, 4096, timedelta(hours=1))
    assert combined_facts(configured, read) == expected
    assert combined_facts(ClusterFacts(), read) == read
    assert combined_facts(configured, ClusterFacts()) == configured


@pytest.mark.parametrize(("nodes", "is_refused"), [(4, False), (5, True), (50, True)])
@pytest.mark.parametrize("lists_all", [True, False])
async def test_more_nodes_than_a_scheduler_lists_are_refused_at_the_door_with_the_most(
    world: World, nodes: int, *, is_refused: bool, lists_all: bool
) -> None:
    world.engine.own_facts = ClusterFacts(max_nodes=4, lists_all=lists_all)

    job = (await world.message(job_json(nodeCount=nodes))).job

    codes = {one["code"]: one for one in job.problems}
    assert (job.state is JobState.REJECTED) is (is_refused and lists_all)
    assert ("SW109" in codes, "SW075" in codes) == (is_refused and lists_all, is_refused and not lists_all)
    if "SW109" in codes:
        assert f"at most 4 nodes for a job, and {nodes} are requested" in codes["SW109"]["message"]
        assert codes["SW109"]["remedy"] == "write at most 4"


async def test_more_time_than_the_cluster_allows_is_refused_at_the_door_with_field_limit_and_cluster() -> (
    None
):
    world = World()
    world.engine.own_facts = ClusterFacts(longest=DAY)

    refused = (await world.message(job_json(**LONG), "m1")).job
    exact = (await world.message(job_json(constraints={"maxWallClockTime": "P1D"}), "m2")).job
    unnamed = (await world.message(job_json(), "m3")).job

    (problem,) = [one for one in refused.problems if one["severity"] == "error"]
    assert refused.state is JobState.REJECTED
    assert (problem["code"], problem["pointer"]) == ("SW074", "/properties/constraints/maxWallClockTime")
    assert "dev lets no job run longer than P1D" in problem["message"]
    assert (exact.state, unnamed.state) == (JobState.QUEUED, JobState.QUEUED)
    assert len(world.engine.started) == 2


async def test_the_limit_of_a_partition_that_the_job_chose_is_said_of_that_partition() -> None:
    world = World()
    world.engine.own_facts, world.engine.allow = ClusterFacts(longest=DAY), ("partition",)

    message = {"spec": job_json(**LONG), "resources": {"partition": "short"}}
    refused = (await world.message(message, "m1")).job

    (problem,) = [one for one in refused.problems if one["severity"] == "error"]
    assert "dev (partition short) lets no job run longer than P1D" in problem["message"]


async def test_validate_and_explain_know_what_the_door_knows() -> None:
    world = World()
    world.engine.own_facts = ClusterFacts(longest=DAY, mounts=frozenset({"logs"}))
    data = json.dumps(job_json(**LONG)).encode()

    prepared = await request_validated(world.ports, read_request(data, Limits()))
    short = read_request(json.dumps(job_json()).encode(), Limits())
    explained = await request_explained(world.ports, short, source="s", key=None)
    explained_request = await request_explained(
        world.ports, read_request(data, Limits()), source="s", key=None
    )

    assert [one.code for one in prepared.problems] == ["SW074"]
    assert explained_request["verdict"] == "rejected"
    assert explained["wallClockLimit"] == "P1D"
    assert explained["cost"]["nodeHours"]["to"] == 24
    assert explained["problems"] == []


async def test_the_node_hours_of_a_job_that_names_no_time_are_those_that_its_cluster_allows() -> None:
    world = World()
    world.policy(limits=Limits(max_node_hours=48))
    before = (await world.message(job_json(nodeCount=2), "m1")).job
    world.engine.own_facts = ClusterFacts(longest=DAY)
    after = (await world.message(job_json(nodeCount=2), "m2")).job

    assert (before.state, after.state) == (JobState.REJECTED, JobState.QUEUED)


async def test_a_mount_is_a_question_only_where_no_one_knows_what_the_cluster_mounts() -> None:
    world = World()
    remote = job_json(inputDirectories=[{"id": "A", "path": "$AZ_BATCHAI_MOUNT_ROOT/data/x"}])
    unknown = (await world.message(remote, "m1")).job
    world.engine.own_facts = ClusterFacts(mounts=frozenset({"logs", "data"}))
    other_job = (await world.message(remote, "m2")).job
    world.engine.own_facts = ClusterFacts(mounts=frozenset({"logs"}))
    absent = (await world.message(remote, "m3")).job

    (question,) = unknown.problems  # none of the default directory of logs, which every cluster mounts
    assert (question["code"], question["pointer"]) == ("SW034", "/properties/inputDirectories/0/path")
    assert other_job.problems == ()
    assert [one["code"] for one in absent.problems] == ["SW033"]


async def test_facts_are_of_the_cluster_that_the_job_names() -> None:
    class Two(Engines):
        def get(self, engine: str) -> Any:
            return other if engine == "other" else self.engine

    world, other = World(), World().engine
    other.own_facts = ClusterFacts(longest=DAY)
    night = replace(CLUSTER, name="night", engine="other", id=CLUSTER.id.replace("/dev", "/night"))
    world.use(engines=Two(world.engine, {"dev": CLUSTER, "night": night}))

    job = (await world.message({"name": "a", "spec": job_json(**LONG)}, "m1")).job
    by_name = (await world.message({"name": "b", "cluster": "night", "spec": job_json(**LONG)}, "m2")).job
    by_id = (await world.message(job_json(cluster={"id": night.id}, **LONG), "m3")).job

    assert [one.state for one in (job, by_name, by_id)] == [
        JobState.QUEUED,
        JobState.REJECTED,
        JobState.REJECTED,
    ]


async def test_a_cluster_that_is_left_alone_is_not_asked_and_has_the_facts_that_are_configured() -> None:
    world = World()
    facts = ClusterFacts(longest=DAY)
    world.use(engines=Engines(world.engine, {"dev": replace(CLUSTER, facts=facts)}))
    for _ in range(20):
        world.ports.breaker.failed("memory/dev", world.now)
    world.engine.own_facts = ClusterFacts(longest=timedelta(hours=1))

    half = {"constraints": {"maxWallClockTime": "PT12H"}}
    asked_now = read_request(json.dumps(job_json(**half)).encode(), Limits())
    assert (await request_validated(world.ports, asked_now)).valid
