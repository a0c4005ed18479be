"""Each part of what explain answers: where it comes from, and what is asked for it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from shared.core.cost.prices import prices_from
from shared.core.engine import Order, Submission
from shared.core.errors import Unavailable
from shared.core.facts import ClusterFacts
from shared.core.job import JobState, Stored
from shared.core.relations.variables import Variable
from shared.intake.arrive import message_arrived
from shared.intake.explanation.explain_text import markdown
from shared.intake.message import read_request
from shared.intake.request_door import request_explained
from shared.jobspec import JsonObject
from tests.doubles.memory import MemoryLedger
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.priced_cluster import ROW, view_of
from tests.unit.world import CLUSTER, Engines, World, job_json


async def explained(world: World, document: Any, key: str | None = None) -> dict[str, Any]:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    request = read_request(body, world.ports.policy.limits)
    return await request_explained(world.ports, request, source="queue", key=key)


# The job


@pytest.mark.parametrize(("key", "words"), [("k", "joins the job"), (None, "a job of its own")])
async def test_it_says_what_counts_as_the_same_request(world: World, key: str | None, words: str) -> None:
    assert words in (await explained(world, job_json(), key))["job"]["duplicates"]


async def test_without_a_key_the_ledger_is_asked_for_no_job_and_ids_are_placeholders(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def get(job_id: str) -> Stored | None:
        raise AssertionError(job_id)

    monkeypatch.setattr(world.ledger, "get", get)
    body = await explained(world, job_json())
    assert body["engineName"] == "http-<job id>-<job id>-1"
    assert body["job"]["receipt"] == "runs/default/http-<job id>-<job id>/receipt.json"
    assert "<job id>" in {one["value"] for one in body["environment"] if one["name"] == "SLIPWAY_JOB_ID"}
    assert body["job"]["id"] is None


async def test_after_its_end_another_record_is_shown_and_it_is_the_one_that_comes(world: World) -> None:
    ids = []
    for number in range(1, 4):
        document = {"spec": job_json(nodeCount=-number), "idempotencyKey": "k"}  # another each time
        ids.append((await explained(world, document))["job"]["id"])
        (accepted,) = await message_arrived(world.ports, json.dumps(document).encode(), "m")
        assert (accepted.job.id, accepted.created) == (ids[-1], True)
    assert len(set(ids)) == 3


class Endless(MemoryLedger):
    """It has a rejected record under every id."""

    record: Stored
    requests = 0

    async def get(self, job_id: str) -> Stored | None:
        self.requests += 1
        return self.record


async def test_generations_without_an_end_are_not_looked_through_for_ever(world: World) -> None:
    rejected = (await world.message({"spec": job_json(nodeCount=-1), "idempotencyKey": "k"})).job
    ledger = Endless(world.clock)
    ledger.record = Stored(rejected, "1", None)
    world.use(ledger=ledger)

    with pytest.raises(Unavailable, match="never end"):
        await explained(world, {"spec": job_json(), "idempotencyKey": "k"})

    assert ledger.requests < 40


#: A directory of which a warning says that it is not known whether the cluster mounts it.
ON_CLUSTER = [{"id": "A", "path": "$AZ_BATCHAI_MOUNT_ROOT/data"}]


async def test_the_verdict_counts_the_errors_and_not_the_warnings(world: World) -> None:
    one = await explained(world, job_json(nodeCount=0, mountVolumes=None, inputDirectories=ON_CLUSTER))
    assert [p["severity"] for p in one["problems"]].count("error") == 1
    assert len(one["problems"]) > 1
    assert one["summary"] == "It would be rejected, for 1 error."
    two = await explained(world, job_json(nodeCount=0, nodeCuont=1))
    assert two["summary"] == "It would be rejected, for 2 errors."


async def test_a_document_that_would_run_says_where_and_shows_itself(world: World) -> None:
    body = await explained(world, job_json())
    assert body["summary"] == "It would run on dev."
    assert body["document"]["properties"]["cluster"] == {"id": CLUSTER.id}


# The cluster


async def test_a_document_for_another_cluster_has_none_with_any_engine_here(world: World) -> None:
    await world.message(job_json())
    for document in (job_json(cluster={"id": "/other"}), {"spec": job_json(), "cluster": "other"}):
        body = await explained(world, document)
        assert (body["verdict"], body["cluster"]) == ("rejected", None)


async def test_a_document_that_cannot_be_read_has_its_cluster_if_that_can(world: World) -> None:
    world.engine.view = view_of()
    body = await explained(world, json.dumps(job_json(nodeCount=2)).encode()[:-1] + b",}")
    assert (body["verdict"], body["document"]) == ("rejected", None)
    assert (body["cluster"]["name"], body["cluster"].get("nodesToAdd")) == ("dev", None)


@pytest.mark.parametrize(("nodes", "add"), [(3, 2), (1, 0), ("three", None), (True, None)])
async def test_nodes_to_add_are_shown_for_a_number_of_nodes(
    world: World, nodes: Any, add: int | None
) -> None:
    world.engine.view = view_of()
    assert (await explained(world, job_json(nodeCount=nodes)))["cluster"].get("nodesToAdd") == add


async def test_the_cluster_is_reported_as_it_stands(world: World) -> None:
    world.engine.view = view_of(errors=("a node is broken",))
    facts = ClusterFacts(max_nodes=3)
    world.use(engines=Engines(world.engine, {"dev": replace(CLUSTER, facts=facts)}))
    result = (await explained(world, job_json()))["cluster"]
    assert result == {
        "name": "dev",
        "id": CLUSTER.id,
        "engine": "memory",
        "why": "it is the default of this deployment",
        "state": "steady",
        "size": "STANDARD_NC6",
        "priority": "lowpriority",
        "nodes": 1,
        "counts": {"idle": 1},
        "maximum": 3,  # as it is configured; the cluster itself allows 4
        "nodesToAdd": 0,
        "errors": ["a node is broken"],
    }


async def test_the_facts_of_the_cluster_as_it_is_now_decide(world: World) -> None:
    world.engine.own_facts = ClusterFacts(longest=timedelta(hours=1))
    body = await explained(world, job_json(constraints={"maxWallClockTime": "PT2H"}))
    assert body["verdict"] == "rejected"
    assert "SW074" in {problem["code"] for problem in body["problems"]}


async def test_a_cluster_that_hangs_is_not_waited_for(world: World) -> None:
    world.engine.hangs.add("nodes")
    world.policy(explain_patience=0)
    body = await explained(world, job_json())
    assert body["cluster"]["note"] == "could not be queried: it did not answer in time"


# The run


async def test_the_jobs_of_this_deployment_that_are_ahead_are_counted_on_this_cluster(world: World) -> None:
    other = replace(CLUSTER, name="other", id="/other")
    world.use(engines=Engines(world.engine, {"dev": CLUSTER, "other": other}))
    completion = world.ports.policy.completion
    world.policy(completion=replace(completion, clusters={"dev": CLUSTER.id, "other": other.id}))
    await world.message({"spec": job_json(), "cluster": "other"}, "m0")
    for n in range(1, 4):
        await world.message(job_json(), f"m{n}")
    names = [order.target.name for order in world.engine.orders if order.target.cluster == "dev"]
    world.engine.set_state(names[0], JobState.RUNNING)
    await world.make_pass()
    world.policy(paused=True)
    await world.message(job_json(), "m4")  # it has no place there yet
    world.engine.view = view_of(nodes=4, counts={})
    assert (await explained(world, job_json()))["wait"]["reason"].startswith("2 jobs of this deployment wait")

    for name in names[1:]:
        world.engine.set_state(name, JobState.SUCCEEDED)
    await world.make_pass()
    reason = (await explained(world, job_json()))["wait"]["reason"]
    assert reason.endswith("; 1 job of this deployment runs there")


@dataclass
class OrderKeeper(MemoryEngine):
    """Keeps the order that a request is built from."""

    order: Order | None = None

    def submissions(self, order: Order) -> tuple[Submission, ...]:
        self.order = order
        return super().submissions(order)

    def environment(self, order: Order) -> tuple[Variable, ...]:
        return (Variable("PATH", "/bin:…", "engine", exact=False), Variable("PASSWORD", "canary", "job"))


async def test_the_request_is_that_of_the_engine_with_masks_for_keys(world: World) -> None:
    world.use(engines=Engines(engine := OrderKeeper(allow=("gpus",))))
    completion = replace(world.ports.policy.completion, storage_suffix="core.chinacloudapi.cn")
    world.policy(completion=completion)
    shares = [
        {"accountName": "acct", "azureFileUrl": f"https://acct.file.{completion.storage_suffix}/share"}
        | {"relativeMountPath": "share"}
    ]
    spec = job_json(mountVolumes={"azureFileShares": shares})
    body = await explained(world, {"spec": spec, "resources": {"gpus": 2}}, "k")

    assert body["verdict"] == "runs", body["problems"]
    assert engine.order is not None
    assert engine.order.resources == {"gpus": 2}
    variables = engine.order.document["properties"]["environmentVariables"]
    assert "SLIPWAY_JOB_ID" in {one["name"] for one in variables}
    (share,) = body["request"]["body"]["properties"]["mountVolumes"]["azureFileShares"]
    assert share["credentials"] == {"accountKey": "***"}
    assert (body["request"]["method"], body["engineName"]) == ("PUT", engine.order.target.name)
    assert "requestsBefore" not in body
    assert body["environment"] == [
        {"name": "PATH", "value": "/bin:…", "source": "engine", "exact": False},
        {"name": "PASSWORD", "value": "***", "source": "job", "exact": True},
    ]


class Several(MemoryEngine):
    """An engine that needs an object of its own before the job."""

    def submissions(self, order: Order) -> tuple[Submission, ...]:
        return (Submission("POST", "/secrets", {"accountKey": "canary"}), *super().submissions(order))


async def test_an_engine_may_need_several_requests_and_all_are_shown_in_their_order(world: World) -> None:
    world.use(engines=Engines(Several()))
    body = await explained(world, job_json())

    assert body["requestsBefore"] == [
        {"method": "POST", "path": "/secrets", "body": {"accountKey": "***"}},
    ]
    assert body["request"]["method"] == "PUT"
    text = markdown(body)
    assert text.index("## The requests to the engine") < text.index("`POST /secrets`") < text.index("`PUT ")


@pytest.mark.parametrize(
    ("constraints", "facts", "length"),
    [
        (None, ClusterFacts(), "P7D"),
        ({"maxWallClockTime": "PT5M"}, ClusterFacts(), "PT5M"),
        (None, ClusterFacts(longest=timedelta(hours=3)), "PT3H"),
    ],
)
async def test_the_longest_run_follows_from_the_job_and_its_cluster(
    world: World, constraints: JsonObject | None, facts: ClusterFacts, length: str
) -> None:
    world.engine.own_facts = facts
    body = await explained(world, job_json(constraints=constraints))
    assert body["wallClockLimit"] == length
    named = {one["name"]: one["asked"] for one in body["limits"]}
    assert named["wall-clock limit"] == length
    assert ("wall-clock limit of the cluster" in named) is (facts.longest is not None)


async def test_the_price_is_that_of_the_region(world: World) -> None:
    world.engine.view = view_of()
    rows = prices_from([ROW, {**ROW, "region": "westeurope", "perHour": 9}])
    world.policy(prices=rows, region="eastus")
    (price,) = (await explained(world, job_json()))["cost"]["price"]
    assert price["perHour"] == {"from": 0.5, "to": 0.5}


async def test_a_cluster_that_was_not_asked_has_no_price(world: World) -> None:
    world.engine.down = True
    world.policy(prices=prices_from([ROW]))
    cost = (await explained(world, job_json()))["cost"]
    assert (cost["price"], cost["size"], cost["nodes"]) == (None, None, 1)


# Warnings


async def test_what_deserves_attention_is_reported_once(world: World) -> None:
    world.engine.view = view_of(errors=("no quota", "no quota"))
    body = await explained(world, job_json(nodeCount=9, inputDirectories=ON_CLUSTER))
    assert body["verdict"] == "runs"
    reports = [text for text in body["warnings"] if not text.startswith("SW")]
    assert reports == [
        "nodes of the cluster: asked 9, allowed 4",
        "quota for nodes: no quota",
        "cluster dev: no quota",
    ]
    warned = {one["code"] for one in body["problems"] if one["severity"] == "warning"}
    assert {text[:5] for text in body["warnings"] if text.startswith("SW")} == warned
    assert warned


async def test_a_cluster_that_could_not_be_asked_is_a_warning_and_one_that_was_not_is_none(
    world: World,
) -> None:
    world.engine.down = True
    body = await explained(world, job_json())
    assert body["warnings"][-1] == "cluster dev could not be queried: no answer"


async def test_errors_are_no_warnings(world: World) -> None:
    world.engine.view = view_of()
    body = await explained(world, job_json(nodeCuont=1))
    assert "SW012" in {one["code"] for one in body["problems"]}
    assert not [text for text in body["warnings"] if text.startswith("SW012")]


async def test_a_job_is_shown_what_it_will_read_of_those_that_have_ended(world: World) -> None:
    world.use(engines=Engines(engine := OrderKeeper()))
    ended, active = [(await world.named(name)).id for name in ("data", "more")]
    target = (await world.job(ended)).fixed_target
    world.engine.set_state(target.name, JobState.SUCCEEDED, segment="seg/1")
    engine.set_state(target.name, JobState.SUCCEEDED, segment="seg/1")
    await world.make_pass()

    await explained(world, {"spec": job_json(), "after": [ended, active]}, "k")

    assert engine.order is not None
    variables = {
        one["name"]: one["value"] for one in engine.order.document["properties"]["environmentVariables"]
    }
    assert {name: value for name, value in variables.items() if name.startswith("SLIPWAY_AFTER")} == {
        "SLIPWAY_AFTER_1": ended,
        "SLIPWAY_AFTER_1_STDOUTERR": "$AZ_BATCHAI_MOUNT_ROOT/logs/seg/1/stdouterr",
        "SLIPWAY_AFTER_2": active,
    }
