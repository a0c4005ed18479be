"""The cluster that a request is for, with what it says of itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.core.errors import Misconfigured
from shared.core.facts import ClusterFacts
from shared.intake.desk.facts import cluster_for, cluster_member, cluster_of
from shared.intake.message import Request
from shared.jobspec import Envelope, JsonObject
from tests.unit.world import CLUSTER, Engines, World, job_json

OTHER = replace(CLUSTER, name="other", id="/other", facts=ClusterFacts(max_nodes=3))


@pytest.fixture
def two(world: World) -> World:
    world.use(engines=Engines(world.engine, {"dev": CLUSTER, "other": OTHER}))
    completion = world.ports.policy.completion
    world.policy(completion=replace(completion, clusters={"dev": CLUSTER.id, "other": OTHER.id}))
    return world


def asking(named_by_job: str = "", **envelope: Any) -> Request:
    document = job_json(cluster={"id": named_by_job}) if named_by_job else job_json()
    return Request(Envelope.model_validate(envelope), document, "p")


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        (asking(), "dev"),
        (asking("/other"), "other"),
        (asking("/OTHER"), "other"),
        (asking(cluster="other"), "other"),
        (asking(CLUSTER.id, cluster="other"), "other"),
        (asking("/nowhere"), None),
        (Request(Envelope(), None, "p"), "dev"),
        (Request(Envelope(cluster="other"), {"properties": "x"}, "p"), "other"),
    ],
)
async def test_it_is_the_one_of_the_message_or_of_the_document_or_the_default(
    two: World, request_: Request, name: str | None
) -> None:
    result = await cluster_for(two.ports, request_)
    assert (result.name if result else None) == name


async def test_limits_that_are_configured_and_those_that_it_says_bound_each_other(two: World) -> None:
    two.engine.own_facts = ClusterFacts(max_nodes=9, longest=timedelta(hours=1))
    result = await cluster_for(two.ports, asking("/other"))
    assert result == replace(OTHER, facts=ClusterFacts(max_nodes=3, longest=timedelta(hours=1)))


@pytest.mark.parametrize(
    ("resources", "choice"), [(None, {}), ({"partition": "short"}, {"partition": "short"})]
)
async def test_it_is_asked_for_what_the_job_chose(
    two: World, resources: JsonObject | None, choice: JsonObject
) -> None:
    envelope: dict[str, Any] = {"resources": resources} if resources else {}
    await cluster_for(two.ports, asking("", **envelope))
    assert two.engine.queries == [("facts", "dev", choice)]


async def test_one_that_does_not_answer_or_is_not_configured_has_the_facts_of_the_settings(
    two: World,
) -> None:
    two.engine.refuses["facts"] = Misconfigured("no key")
    assert await cluster_for(two.ports, asking("/other")) == OTHER

    two.engine.queries.clear()
    for _ in range(5):
        two.ports.breaker.failed("memory/other", two.now)
    assert await cluster_for(two.ports, asking("/other")) == OTHER
    assert two.engine.queries == []  # left alone, it is not even asked


@pytest.mark.parametrize(
    "document", [None, "x", {}, {"properties": "x"}, {"properties": {"cluster": "x"}},
                 {"properties": {"cluster": {"id": 7}}}],
)  # fmt: skip
def test_a_document_may_name_no_cluster_in_any_way(two: World, document: Any) -> None:
    assert cluster_of(two.ports, document) is None


@pytest.mark.parametrize(
    ("document", "cluster"),
    [(None, None), ({}, None), ({"properties": "x"}, None), ({"properties": {"cluster": "c"}}, "c")],
)
def test_what_a_document_says_of_its_cluster_is_taken_as_it_stands(document: Any, cluster: Any) -> None:
    assert cluster_member(Request(Envelope(), document, "p")) == cluster
