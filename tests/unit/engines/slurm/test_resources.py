"""Less than a whole node: what Slurm is sent in both dialects, who comes first, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shared.core.engine import Order
from shared.core.errors import Misconfigured
from shared.engines.launch import plan as launch
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.engine import SlurmEngine
from shared.engines.slurm.job.request import submission
from shared.engines.slurm.job.site import site
from shared.engines.slurm.reserved import RESERVED
from shared.engines.slurm.wire.dialect import DIALECTS
from shared.jobspec import RESOURCES
from tests.unit.engines.slurm.launch_plans import CLUSTER, TOOLKITS, order

OLD, NEW = DIALECTS[-1], DIALECTS[0]
ONE_GPU = {"gpus": 1, "cpus": 8, "memory": "60G"}
ALL = replace(CLUSTER, allow=RESOURCES, gpus=8)


def asking(resources: dict[str, Any], **properties: Any) -> Order:
    return replace(order(TOOLKITS["custom"], **properties), resources=resources)


def fields_of(cluster: SlurmCluster, job_order: Order, dialect: Any = NEW) -> dict[str, Any]:
    """What the job says of its resources."""
    body = submission(cluster, dialect, job_order).body["job"]
    ours = (
        "name comment hold nodes tasks time_limit current_working_directory standard_output standard_error "
        "open_mode environment script requeue no_requeue"
    )
    return {name: value for name, value in body.items() if name not in ours.split()}


def number(value: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": value}


def test_a_share_of_each_node_in_both_dialects() -> None:
    job_order = asking({**ONE_GPU, "gpuType": "a100", "constraint": "a100&nvlink", "reservation": "monday"})

    where = {"partition": "gpu", "constraints": "a100&nvlink", "reservation": "monday", "cpus_per_task": 8}
    assert fields_of(ALL, job_order, OLD) == {**where, "memory_per_node": 61440, "gres": "gpu:a100:1"}
    new = {**where, "memory_per_node": number(61440), "tres_per_node": "gres/gpu:a100:1"}
    assert fields_of(ALL, job_order, NEW) == new


def test_what_a_cluster_gives_holds_for_jobs_that_ask_for_nothing() -> None:
    cluster = replace(CLUSTER, resources=ONE_GPU)
    assert fields_of(cluster, asking({})) == {
        "partition": "gpu",
        "cpus_per_task": 8,
        "memory_per_node": number(61440),
        "tres_per_node": "gres/gpu:1",
    }


def test_what_a_job_asks_for_comes_before_what_its_cluster_gives() -> None:
    cluster = replace(ALL, resources={**ONE_GPU, "gpuType": "a100", "options": {"wckey": "x", "nice": 1}})
    job_order = asking({"gpus": 2, "partition": "big", "account": "team", "options": {"nice": 5}})
    assert fields_of(cluster, job_order) == {
        "partition": "big",
        "account": "team",
        "cpus_per_task": 8,
        "memory_per_node": number(61440),
        "tres_per_node": "gres/gpu:a100:2",
        "wckey": "x",
        "nice": 5,
    }


def test_a_job_may_ask_for_whole_nodes_where_others_get_a_share() -> None:
    cluster = replace(ALL, resources={**ONE_GPU, "gpuType": "a100", "constraint": "a100"})
    assert fields_of(cluster, asking({"exclusive": True})) == {
        "partition": "gpu",
        "memory_per_node": number(0),
        "shared": ["none"],
        "tres_per_node": "gres/gpu:8",
        "constraints": "a100",
    }


def test_a_share_without_gpus_has_none() -> None:
    result = fields_of(ALL, asking({"cpus": 2}))
    assert result == {"partition": "gpu", "cpus_per_task": 2}


@pytest.mark.parametrize(
    ("resources", "priority", "qos"),
    [({}, None, "slow"), ({}, "low", "spot"), ({"qos": "mine"}, "low", "mine")],
)
def test_the_quality_of_service_is_the_job_s_then_its_priority_s_then_the_cluster_s(
    resources: dict[str, Any], priority: str | None, qos: str
) -> None:
    cluster = replace(ALL, resources={"qos": "slow"})
    assert fields_of(cluster, asking(resources, schedulingPriority=priority))["qos"] == qos


def test_the_job_learns_of_as_many_gpus_as_it_has() -> None:
    job_order = asking(ONE_GPU)
    system = dict(launch.plan(site(ALL, job_order), job_order)["system"])
    assert (system["AZ_BATCHAI_NUM_GPUS"], system["AZ_BATCHAI_NUM_GPUS_PER_NODE"]) == ("1", "1")
    whole = asking({})
    assert dict(launch.plan(site(ALL, whole), whole)["system"])["AZ_BATCHAI_NUM_GPUS"] == "8"


def refused(cluster: SlurmCluster, resources: dict[str, Any]) -> list[tuple[str, str]]:
    problems = SlurmEngine({"gpu": cluster}, {}).allots("gpu", resources)
    assert {problem.code for problem in problems} <= {"SW109"}
    return [(problem.pointer, f"{problem.message}: {problem.remedy}") for problem in problems]


def test_what_the_operator_does_not_allow_is_refused_with_its_place() -> None:
    result = refused(replace(CLUSTER, allow=["gpus"]), {"gpus": 1, "partition": "big"})
    assert [at for at, _ in result] == ["/resources/partition"]
    assert "jobs may choose gpus" in result[0][1]


def test_more_gpus_than_a_node_has_are_refused() -> None:
    ((at, says),) = refused(ALL, {"gpus": 9})
    assert at == "/resources/gpus"
    assert "has 8 GPUs" in says


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_options_cannot_set_what_the_engine_relies_on(name: str) -> None:
    ((at, says),) = refused(ALL, {"options": {name: "x", "licenses": "matlab:1"}})
    assert (at, f"cannot set {name}:" in says) == ("/resources/options", True)


def test_everything_that_a_submission_says_is_kept_from_options() -> None:
    for dialect in DIALECTS:
        assert submission(ALL, dialect, asking(ONE_GPU)).body["job"].keys() <= RESERVED


def test_a_job_waits_for_the_operator_who_withdrew_what_it_was_accepted_with() -> None:
    with pytest.raises(Misconfigured, match="may not choose its gpus"):
        submission(CLUSTER, NEW, asking({"gpus": 1}))
