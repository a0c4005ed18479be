"""What is made of one request: completed, checked against its cluster, sealed; all problems at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.core.errors import Misconfigured, Unavailable
from shared.core.facts import ClusterFacts
from shared.intake.desk import prepare as preparing
from shared.intake.desk.prepare import Prepared, prepare
from shared.intake.message import Request, read_request
from shared.jobspec import Envelope, Limits, Problem, Source
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import CLUSTER, Engines, World, job_json

#: It is not known whether the cluster mounts what the job needs: a warning about most documents here.
UNKNOWN_MOUNTS = "SW034"
DROP = {"commandLine": "python $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/a/x.py"}


def request(envelope: dict[str, Any] | None = None, **properties: Any) -> Request:
    return Request(Envelope.model_validate(envelope or {}), job_json(**properties), "p")


def prepared(world: World, request: Request, **how: Any) -> Prepared:
    return prepare(world.ports, request, **{"key": "k", **how})


def codes(result: Prepared | Sequence[Problem]) -> list[tuple[str, str]]:
    problems = result.problems if isinstance(result, Prepared) else result
    return [(one.code, one.pointer) for one in problems if one.code != UNKNOWN_MOUNTS]


# What is valid


def test_only_a_document_without_errors_may_run() -> None:
    error = Problem("SW001", "", "x", "y")
    warning = replace(error, severity="warning")
    assert Prepared({}, None, (), (warning,)).valid
    assert not Prepared({}, None, (), (warning, error)).valid
    assert not Prepared(None, None, (), ()).valid


def test_a_document_is_completed_and_what_was_completed_is_noted(world: World) -> None:
    draft = prepared(world, request())
    assert draft.valid
    assert draft.cluster == CLUSTER
    assert draft.document is not None
    assert draft.document["properties"]["cluster"] == {"id": CLUSTER.id}
    assert "mountVolumes" not in draft.document["properties"]
    assert draft.notes == ("cluster: filled in with the default, dev",)


def test_a_request_without_a_document_has_the_problems_that_it_came_with(world: World) -> None:
    problem = Problem("SW106", "/specBlob", "x", "y")
    draft = prepared(world, Request(Envelope(), None, "p", problems=(problem,)))
    assert (codes(draft), draft.document, draft.cluster) == ([("SW106", "/specBlob")], None, None)


def test_a_document_that_had_to_be_mended_is_reported_and_not_kept(world: World) -> None:
    body = json.dumps({"job": job_json(nodeCuont=1)}).encode()
    draft = prepared(world, read_request(body, Limits()))
    assert codes(draft) == [("SW085", ""), ("SW012", "/job/properties/nodeCuont")]
    assert (draft.document, draft.cluster) == (None, CLUSTER)


def test_a_defect_is_a_problem_that_quotes_nothing_and_an_outage_is_none(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object, **named: object) -> Prepared:
        raise error

    world.policy(rules_url="https://rules.example")
    monkeypatch.setattr(preparing, "_checked", breaks)
    error: Exception = ValueError("canary")
    draft = prepared(world, replace(request(), pointer="/spec"))
    (problem,) = draft.problems
    assert (problem.code, problem.pointer) == ("SW111", "/spec")
    assert problem.message == "the document could not be checked"
    assert problem.page == "https://rules.example/SW111.md"
    assert not draft.valid

    error = Unavailable("storage did not answer")
    with pytest.raises(Unavailable):
        prepared(world, request())


# The cluster


def test_what_is_known_of_the_cluster_now_counts_for_that_cluster_alone(world: World) -> None:
    facts = ClusterFacts(mounts=frozenset({"logs"}), max_nodes=1)
    own_cluster = replace(CLUSTER, facts=facts)
    draft = prepared(world, request(), cluster=own_cluster)
    assert (draft.cluster, draft.problems) == (own_cluster, ())

    other = replace(own_cluster, name="other", id="/other")
    assert prepared(world, request(), cluster=other).cluster == CLUSTER
    assert codes(prepared(world, request(cluster={"id": "/x"}), cluster=own_cluster)) == [
        ("SW047", "/properties/cluster/id")
    ]


def test_what_the_cluster_does_not_mount_or_has_not_is_reported(world: World) -> None:
    facts = ClusterFacts(mounts=frozenset({"data"}), max_nodes=1)
    draft = prepared(world, request(nodeCount=2), cluster=replace(CLUSTER, facts=facts))
    assert codes(draft) == [("SW033", "/properties/stdOutErrPathPrefix"), ("SW075", "/properties/nodeCount")]


def test_what_its_engine_refuses_is_reported_also_that_it_is_not_configured(world: World) -> None:
    world.engine.cannot = {"customToolkitSettings": "no such toolkit here"}
    assert [code for code, _ in codes(prepared(world, request()))] == ["SW109"]

    class NoEngines(Engines):
        def get(self, engine: str) -> MemoryEngine:
            raise Misconfigured("no key for the cluster")

    world.use(engines=NoEngines(world.engine))
    draft = prepared(world, request({"resources": {"gpus": 1}}))
    assert codes(draft) == [("SW101", "/properties/cluster")]
    assert "no key for the cluster" in [one.message for one in draft.problems]


def test_what_is_wrong_with_a_document_hides_nothing_of_what_its_cluster_refuses(world: World) -> None:
    world.policy(limits=Limits(max_node_hours=10))
    world.engine.cannot = {"customToolkitSettings": "no such toolkit here"}
    facts = ClusterFacts(mounts=frozenset({"data"}))
    draft = prepared(world, request(), cluster=replace(CLUSTER, facts=facts))
    assert {code for code, _ in codes(draft)} == {"SW033", "SW109", "SW110"}


def test_problems_name_their_pages_where_the_deployment_says(world: World) -> None:
    world.policy(rules_url="https://rules.example")
    (problem,) = [one for one in prepared(world, request(nodeCount=0)).problems if one.code == "SW013"]
    assert problem.page == "https://rules.example/SW013.md"


@pytest.mark.parametrize(
    ("allow", "expected"), [((), [("SW109", "/resources/gpus")]), (("gpus",), [])], ids=["refused", "given"]
)
def test_what_the_cluster_does_not_give_is_refused_where_it_is_asked_for(
    world: World, allow: tuple[str, ...], expected: list[tuple[str, str]]
) -> None:
    world.engine.allow = allow
    own_request = request({"resources": {"gpus": 1}})
    assert codes(prepared(world, own_request)) == expected
    below = [(code, f"/envelope{at}") for code, at in expected]
    assert codes(prepared(world, replace(own_request, envelope_at="/envelope"))) == below


def test_what_is_refused_of_an_envelope_is_reported_in_its_own_text(world: World) -> None:
    around = Source(b'{"resources": {"gpus": 1}}', "message")
    (problem,) = prepared(world, replace(request({"resources": {"gpus": 1}}), around=around)).problems[-1:]
    assert (problem.code, problem.as_dict()["file"]) == ("SW109", "message")


def test_a_partition_is_named_where_one_is_chosen(world: World) -> None:
    world.engine.allow = ("gpus", "partition")
    cluster = replace(CLUSTER, facts=ClusterFacts(max_nodes=1))
    for resources, named in (({"gpus": 1}, False), ({"partition": "short"}, True)):
        own_request = request({"resources": resources}, nodeCount=2)
        (problem,) = [
            one for one in prepared(world, own_request, cluster=cluster).problems if one.code == "SW075"
        ]
        assert ("(partition " in problem.message) is named


def test_a_cluster_that_is_not_configured_is_reported_with_those_that_are(world: World) -> None:
    own_request = replace(
        request(cluster={"id": "nowhere"}, customToolkitSettings=DROP), absent=frozenset({"a/x.py"})
    )
    problems = prepared(world, own_request, folder="a").problems
    assert {"SW047", "SW070"} <= {one.code for one in problems}
    assert [one.remedy for one in problems if one.code == "SW047"] == ["write one of: dev"]


def test_a_default_that_may_not_fit_is_not_for_the_author_to_mend(world: World) -> None:
    document = job_json()
    del document["properties"]["stdOutErrPathPrefix"]
    assert prepared(world, Request(Envelope(), document, "p")).problems == ()


def test_a_mount_that_job_and_cluster_both_have_may_be_meant_either_way(world: World) -> None:
    volumes = _share("acct")
    volumes["azureFileShares"][0]["relativeMountPath"] = "logs"
    own_cluster = replace(CLUSTER, facts=ClusterFacts(mounts=frozenset({"logs"})))
    assert "SW073" in {code for code, _ in codes(prepared(world, request(mountVolumes=volumes)))}
    draft = prepared(world, request(mountVolumes=volumes), cluster=own_cluster)
    assert "SW073" not in {code for code, _ in codes(draft)}


def test_a_document_for_no_cluster_asks_no_engine_for_anything(world: World) -> None:
    draft = prepared(world, request({"resources": {"gpus": 1}}, cluster={"id": "/x"}))
    assert codes(draft) == [("SW047", "/properties/cluster/id")]


# Limits, accounts, scripts


@pytest.mark.parametrize(
    ("nodes", "time", "longest", "message"),
    [
        (10, "PT1H", None, None),
        (10, "PT1H6M", None, "10 nodes for PT1H6M are 11 node-hours; 10 are allowed"),
        (1, None, None, "1 nodes for P7D (the job names no time) are 168 node-hours; 10 are allowed"),
        (1, None, timedelta(hours=10), None),
        (101, "PT1H", None, None),  # more nodes than allowed are reported already
        (100, "PT6M", None, None),
        (100, "PT1H", None, "100 nodes for PT1H are 100 node-hours; 10 are allowed"),
    ],
)
def test_node_hours_are_bounded(
    world: World, nodes: int, time: str | None, longest: timedelta | None, message: str | None
) -> None:
    world.policy(limits=Limits(max_node_hours=10))
    constraints = {"maxWallClockTime": time} if time else None
    cluster = replace(CLUSTER, facts=ClusterFacts(longest=longest))
    draft = prepared(world, request(nodeCount=nodes, constraints=constraints), cluster=cluster)
    reports = [one for one in draft.problems if one.code == "SW110"]
    assert [one.message for one in reports] == ([message] if message else [])
    assert {one.pointer for one in reports} <= {"/properties/nodeCount"}


def test_the_limits_of_the_deployment_hold(world: World) -> None:
    world.policy(limits=Limits(max_nodes=1))
    assert codes(prepared(world, request(nodeCount=2))) == [("SW013", "/properties/nodeCount")]


def _share(account: str, suffix: str = "core.windows.net") -> dict[str, Any]:
    url = f"https://{account}.file.{suffix}/share"
    share = {"accountName": account, "azureFileUrl": url, "relativeMountPath": "s"}
    return {"azureFileShares": [share]}


def test_a_share_without_credentials_is_in_the_account_of_the_deployment(world: World) -> None:
    assert codes(prepared(world, request(mountVolumes=_share("acct")))) == []
    at = "/properties/mountVolumes/azureFileShares/0"
    assert codes(prepared(world, request(mountVolumes=_share("elsewhere")))) == [("SW039", at)]
    world.use(account_keys={})
    assert codes(prepared(world, request(mountVolumes=_share("acct")))) == []
    assert codes(prepared(world, request(mountVolumes=_share("elsewhere")))) == [("SW039", at)]


def test_a_share_is_in_the_cloud_of_the_deployment(world: World) -> None:
    china = _share("acct", "core.chinacloudapi.cn")
    assert [code for code, _ in codes(prepared(world, request(mountVolumes=china)))] == ["SW035"]
    completion = replace(world.ports.policy.completion, storage_suffix="core.chinacloudapi.cn")
    world.policy(completion=completion)
    assert codes(prepared(world, request(mountVolumes=china))) == []


def test_a_drop_mounts_the_drop_container_and_its_scripts_are_looked_at(world: World) -> None:
    own_request = replace(
        request(customToolkitSettings=DROP), absent=frozenset({"a/x.py"}), crlf=frozenset({"a/x.py"})
    )
    draft = prepared(world, own_request, folder="a")
    assert draft.document is not None
    (mount,) = draft.document["properties"]["mountVolumes"]["azureBlobFileSystems"]
    assert mount["containerName"] == "scripts"
    absent = codes(draft)
    assert absent == [("SW070", "/properties/customToolkitSettings/commandLine")]
    assert codes(prepared(world, replace(own_request, absent=frozenset()), folder="a")) != absent
    assert (
        codes(prepared(world, replace(own_request, absent=frozenset(), crlf=frozenset()), folder="a")) == []
    )


def test_a_script_takes_the_place_of_its_placeholder(world: World) -> None:
    own_request = request(customToolkitSettings={"commandLine": "python <SLIPWAY_SCRIPT>"})
    draft = prepared(world, own_request, folder="a/b", script="train.py")
    assert "scripts/a/b/train.py" in json.dumps(draft.document)
