"""What a job that shares a node counts as: what each scheduler gives it, for quotas and for bills."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from shared.core.cost.prices import Price
from shared.core.cost.usage import Rate
from shared.core.engine import Cluster
from shared.core.facts import Allotted, ClusterFacts, combined_facts
from shared.engines.batchai.facts import facts_of as batchai_facts
from shared.engines.kubernetes.job.pod import pod
from shared.engines.slurm.job.chosen import Listed
from shared.engines.slurm.job.share import allocated, requested
from shared.engines.slurm.wire.dialect import DIALECTS, copy_of
from shared.intake.desk.deployment_limits import Demand, demand_of
from tests.unit.engines.batch.service import Service
from tests.unit.engines.batch.service import engine as batch_engine
from tests.unit.engines.kubernetes.job import job_goldens as kubernetes
from tests.unit.engines.slurm.test_chosen import listed
from tests.unit.engines.slurm.test_engine import BOTH, slurm_rig
from tests.unit.world import World

#: What an hour of a whole node costs, and how long the job may run.
_PRICE, _HOURS = 8.0, 2


def demand(facts: ClusterFacts, nodes: int = 1, configured: ClusterFacts | None = None) -> Demand:
    """What a job counts as, on a cluster that reports these facts."""
    price = Price(cluster="gpu", currency="USD", per_hour=_PRICE, date=date(2026, 1, 1), source="test")
    policy = replace(World().ports.policy, prices=(price,))
    properties = {"nodeCount": nodes, "constraints": {"maxWallClockTime": f"PT{_HOURS}H"}}
    cluster = Cluster("gpu", "any", "/gpu", combined_facts(configured or ClusterFacts(), facts))
    return demand_of(policy, {"properties": properties}, cluster)


def counted(demanded: Demand) -> tuple[int, float, float]:
    """GPUs, the part of a node, and the most that it may cost."""
    assert demanded.claim.gpu_hours == demanded.gpus * _HOURS
    assert demanded.claim.cost is not None
    return demanded.gpus, demanded.part, round(demanded.claim.cost, 6)


# Slurm: the request, and then AllocTRES. The largest node has 8 GPUs, 64 CPUs and 8 GiB.


@BOTH
@pytest.mark.parametrize(
    ("resources", "nodes", "gpus", "part"),
    [
        ({}, 2, 16, 1.0),
        ({"exclusive": True}, 1, 8, 1.0),
        ({"cpus": 1}, 1, 0, 0.0156),
        ({"gpus": 1}, 1, 1, 0.125),
        ({"gpus": 1}, 2, 2, 0.125),
        ({"gpus": 1, "cpus": 32}, 1, 1, 0.5),
        ({"cpus": 1, "memory": "8G"}, 1, 0, 1.0),
        ({"gpus": 0, "memory": "2G"}, 1, 0, 0.25),
    ],
)
async def test_a_job_on_slurm_counts_with_what_it_asks_of_its_nodes(
    version: str, resources: dict[str, Any], nodes: int, gpus: int, part: float
) -> None:
    options = {"partition": "gpu", "allow": ["gpus", "cpus", "memory", "exclusive"]}
    async with slurm_rig(version, options=options) as rig:
        listed(rig, version)
        facts = await rig.engine.facts("gpu", resources)

    assert counted(demand(facts, nodes)) == (gpus, part, round(nodes * part * _PRICE * _HOURS, 6))


@BOTH
async def test_the_resources_of_a_slurm_cluster_count_for_jobs_that_name_none(version: str) -> None:
    options = {"partition": "gpu", "gpus": 8, "resources": {"gpus": 1, "cpus": 8}, "allow": ["exclusive"]}
    async with slurm_rig(version, options=options) as rig:
        listed(rig, version)
        own, whole = [await rig.engine.facts("gpu", one) for one in ({}, {"exclusive": True})]

    assert counted(demand(own))[:2] == (1, 0.125)
    assert counted(demand(whole))[:2] == (8, 1.0)


async def test_of_a_slurm_that_does_not_answer_the_gpus_are_those_of_the_request() -> None:
    options = {"partition": "gpu", "resources": {"gpus": 1}}
    async with slurm_rig(options=options) as rig:  # it lists neither nodes nor partitions
        facts = await rig.engine.facts("gpu", {})

    assert facts.allotted == Allotted(1, None)
    assert counted(demand(facts, configured=ClusterFacts(gpus=4)))[:2] == (1, 1.0)


@pytest.mark.parametrize(
    ("resources", "shares"),
    [({}, False), ({"exclusive": True}, False), ({"cpus": 1}, True), ({"cpus": 64}, True)],
)
@pytest.mark.parametrize("answers", [True, False])
async def test_a_job_on_slurm_that_shares_is_told_from_one_that_has_whole_nodes(
    resources: dict[str, Any], *, shares: bool, answers: bool
) -> None:
    options = {"partition": "gpu", "allow": ["cpus", "exclusive"]}
    async with slurm_rig(options=options) as rig:
        if answers:
            listed(rig)
        facts = await rig.engine.facts("gpu", resources)

    assert demand(facts).shares is shares


def test_a_part_is_never_nothing() -> None:
    large = Listed(cpus=100_000, memory=100_000_000)

    assert allocated("cpu=1,mem=1M,node=1", large) == Allotted(None, 0.0001)
    assert requested({"memory": "1M"}, large) == Allotted(0, 0.0001)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("cpu=4", None),
        ("cpu=16,mem=2G,node=1,billing=16,gres/gpu=2", Allotted(2, 0.25)),
        ("cpu=16,mem=2G,node=1,billing=16,gres/gpu=2,gres/gpu:a100=2", Allotted(2, 0.25)),
        ("cpu=32,mem=2048M,node=2,billing=32,gres/gpu:a100=4,gres/gpu=4", Allotted(4, 0.25)),
        ("cpu=64,mem=1G,node=1,billing=64", Allotted(None, 1.0)),
        ("cpu=8,mem=4194304K,node=1", Allotted(None, 0.5)),
        ("cpu=8,mem=1.50G,node=1", Allotted(None, 0.1875)),
        ("cpu=4,mem=0.50T,node=2", Allotted(None, 1.0)),
        ("cpu=8,mem=7.99G,node=1", Allotted(None, 0.9988)),
        ("cpu=1000,mem=1T,node=1,gres/gpu=16", Allotted(16, 1.0)),
    ],
)
def test_what_slurm_allocated_is_the_largest_part_of_a_node(text: str, expected: Allotted | None) -> None:
    assert allocated(text, Listed(cpus=64, memory=8192, gpus=8)) == expected


@pytest.mark.parametrize(
    ("request_text", "gpus"),
    [("gres:gpu:2", 4), ("gres:gpu:a100:2", 4), ("gres/gpu=2", 4), ("gpu:1", 2), ("", None)],
)
def test_the_gpus_of_a_job_that_ended_are_those_that_it_asked_for_on_each_node(
    request_text: str, gpus: int | None
) -> None:
    job = {"job_id": 1, "tres_alloc_str": "cpu=2,node=2", "gres_detail": [], "tres_per_node": request_text}
    amounts = allocated(copy_of(DIALECTS[-1], job).allocated, Listed(cpus=64, gpus=8))

    assert amounts is not None
    assert amounts.gpus == gpus


def test_what_slurm_allocated_of_nodes_of_unknown_size_changes_no_part() -> None:
    assert allocated("cpu=8,mem=1G,node=1,gres/gpu=1", Listed()) == Allotted(1, None)


# Azure Batch: its slots. Kubernetes: its requests. Batch AI: whole nodes.


@pytest.mark.parametrize(
    ("slots", "gpus", "part"), [(None, 4, 1.0), (1, 4, 1.0), (4, 1, 0.25), (3, 2, 1 / 3)]
)
async def test_a_task_of_azure_batch_counts_with_its_slot(slots: int | None, gpus: int, part: float) -> None:
    service = Service()
    service.pool |= {"taskSlotsPerNode": slots} if slots else {}
    async with batch_engine(service, gpus=4) as engine:
        facts = await engine.facts("gpu", {})

    assert counted(demand(facts)) == (gpus, part, round(part * _PRICE * _HOURS, 6))
    assert demand(facts, nodes=3).gpus == -(-3 * 4 // (slots or 1))


def test_fifths_of_three_gpus_on_five_nodes_are_three() -> None:
    facts = ClusterFacts(gpus=3, allotted=Allotted(part=1 / 5))

    assert demand(facts, nodes=5).gpus == 3


def test_a_pod_of_kubernetes_counts_with_its_requests() -> None:
    cluster = replace(kubernetes.CLUSTER, gpus=1, cpus="2")
    order = kubernetes.order(nodeCount=2)
    (container,) = pod(cluster, order, "programs")["containers"]

    requests = container["resources"]["requests"]
    assert counted(demand(cluster.facts, nodes=2))[:2] == (2 * int(requests[cluster.gpu_resource]), 1.0)


def test_a_job_of_batch_ai_counts_with_its_whole_nodes() -> None:
    facts = batchai_facts({"vmSize": "Standard_NC24"})

    assert counted(demand(facts, nodes=2)) == (8, 1.0, 2 * _PRICE * _HOURS)


def test_the_rate_of_a_job_is_that_of_its_part() -> None:
    facts = ClusterFacts(gpus=4, allotted=Allotted(1, 0.25))

    assert demand(facts, nodes=2).rate == Rate(per_hour=4.0, currency="USD")
