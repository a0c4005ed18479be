"""What a job chose that Slurm does not have: refused at acceptance where it is listed, else by Slurm."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from shared.core.errors import Busy, Misconfigured, Rejected, Saturated, Transient
from shared.engines.slurm.job.chosen import _RESOURCES_OF_CODE
from shared.jobspec import RESOURCES
from tests.crash.slurm.slurmrestd import NEW, OLD
from tests.unit.engines.slurm.test_engine import ACCOUNTED, BOTH, Rig, order, slurm_rig

ALLOWED: dict[str, Any] = {"partition": "gpu", "allow": RESOURCES}


def number(value: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": value}


def listed(rig: Rig, version: str = NEW, *, total: int = 2) -> None:
    """Two nodes of the partition gpu, and an empty partition."""
    for name, nodes in (("gpu", total), ("debug", 0)):
        size = {"total_nodes": nodes} if version == OLD else {"nodes": {"total": nodes}}
        rig.server.partitions.append({"name": name, **size})
    rig.server.nodes = [
        {"name": "n1", "partitions": ["gpu"], "gres": "gpu:a100:8", "real_memory": 4096, "cpus": 64},
        {"name": "n2", "partitions": ["gpu"], "gres": "gpu:v100:4", "real_memory": 8192, "cpus": 32},
    ]


async def refused(rig: Rig, resources: dict[str, Any]) -> list[tuple[str, str]]:
    await rig.engine.facts("gpu", resources)
    return [(one.pointer, f"{one.message}; {one.remedy}") for one in rig.engine.allots("gpu", resources)]


@BOTH
@pytest.mark.parametrize(
    ("resources", "at", "message"),
    [
        ({"partition": "gpus"}, "/resources/partition", "a partition gpus; .*debug, gpu"),
        ({"gpus": 9}, "/resources/gpus", "no node of gpu has more than 8 GPUs"),
        (
            {"gpus": 5, "gpuType": "v100"},
            "/resources/gpus",
            "no node .* more than 4 GPUs of type v100",
        ),
        ({"gpus": 1, "gpuType": "h100"}, "/resources/gpuType", "no node of gpu has GPUs of type h100"),
        ({"memory": "9G"}, "/resources/memory", "more than 8192 MiB of memory; .*8192M"),
        ({"cpus": 65}, "/resources/cpus", "no node of gpu has more than 64 CPUs"),
    ],
    ids=["partition", "gpus", "gpus of a type", "type", "memory", "cpus"],
)
async def test_what_no_node_of_the_partition_has_is_refused_when_the_job_comes(
    version: str, resources: dict[str, Any], at: str, message: str
) -> None:
    async with slurm_rig(version, options=ALLOWED) as rig:
        listed(rig, version)
        ((where, text),) = await refused(rig, resources)
        assert where == at
        assert re.search(message, text), text


@pytest.mark.parametrize(
    "resources",
    [
        {"gpus": 8, "memory": "8G", "cpus": 64},
        {"gpus": 8, "gpuType": "a100"},
        {"gpus": 0},
        {"partition": "debug"},
    ],
)
async def test_what_some_node_has_is_not(resources: dict[str, Any]) -> None:
    async with slurm_rig(NEW, options=ALLOWED) as rig:
        listed(rig)
        assert await refused(rig, resources) == []


async def test_gpus_without_a_type_are_of_none() -> None:
    async with slurm_rig(NEW, options=ALLOWED) as rig:
        listed(rig)
        for node in rig.server.nodes:
            node["gres"] = "gpu:8"
        assert await refused(rig, {"gpus": 8}) == []
        ((at, output),) = await refused(rig, {"gpus": 1, "gpuType": "a100"})
        assert (at, output) == ("/resources/gpuType", "no node of gpu has GPUs of type a100; leave it out")


async def test_nothing_is_refused_by_a_cluster_that_is_not_known_or_lists_some_of_its_nodes() -> None:
    async with slurm_rig(NEW, options=ALLOWED) as rig:
        assert await refused(rig, {"partition": "any", "gpus": 9}) == []
    async with slurm_rig(NEW, options=ALLOWED) as rig:
        listed(rig, total=3)
        assert await refused(rig, {"gpus": 9, "memory": "9G", "cpus": 65}) == []


@pytest.mark.parametrize(
    ("code", "resources", "at"),
    [
        (2000, {"partition": "p"}, "partition"),
        (2003, {"partition": "p"}, "partition"),
        (2045, {"account": "a"}, "account"),
        (2045, {"partition": "p"}, "partition"),
        (2066, {"qos": "q"}, "qos"),
        (2053, {"reservation": "r"}, "reservation"),
        (2029, {"constraint": "c"}, "constraint"),
        (2072, {"gpus": 1, "gpuType": "x"}, "gpuType"),
        (2048, {"options": {"licenses": "x"}}, "options"),
        (2018, {"options": {"nodelist": "x"}}, "options"),
        (9001, {"options": {"nosuch": 1}}, "options"),
    ],
)
async def test_what_slurm_refuses_of_a_choice_ends_the_job_and_says_which(
    code: int, resources: dict[str, Any], at: str
) -> None:
    async with slurm_rig(NEW, options=ALLOWED) as rig:
        rig.server.says, rig.server.takes = (code, "Slurm's own words"), False
        with pytest.raises(Rejected, match=rf"^resources\.{at}: .*Slurm's own words \({code}\)"):
            await rig.engine.submit(replace(order(), resources=resources))


@pytest.mark.parametrize(
    ("code", "error", "remedy"),
    [
        (2000, Misconfigured, "set `partition` of the cluster"),
        (2001, Misconfigured, "set `partition` of the cluster"),
        (2002, Misconfigured, "permit it to `user` of the cluster"),
        (2003, Misconfigured, "permit it to `user` of the cluster"),
        (2010, Misconfigured, "create `user` of the cluster"),
        (2045, Misconfigured, "set `account` of the cluster"),
        (2066, Misconfigured, "set `priorities` of the cluster"),
        (2105, Misconfigured, "it takes jobs again when its administrator enables submissions"),
        (2053, Misconfigured, ""),
        (2048, Misconfigured, ""),
        (2014, Rejected, ""),
        (2050, Saturated, ""),
        (2074, Saturated, ""),
        (2019, Busy, ""),
        (2068, Busy, ""),
        (2070, Busy, ""),
        (5004, Transient, ""),
    ],
)
async def test_what_the_job_did_not_choose_is_the_operator_s_to_mend(
    code: int, error: type[Exception], remedy: str
) -> None:
    async with slurm_rig(NEW, options=ALLOWED) as rig:
        rig.server.says, rig.server.takes = (code, "Slurm's own words"), False
        with pytest.raises(error) as caught:
            await rig.engine.submit(replace(order(), resources={"cpus": 1} if code == 2000 else {}))
        assert type(caught.value) is error
        assert "resources." not in str(caught.value)
        assert f"Slurm's own words ({code}): {remedy}".rstrip(": ") in str(caught.value)


@pytest.mark.parametrize(
    ("nodes", "part"), [("n1", 0.5), ("n2", 1.0), ("n[1-2]", 0.5), ("n9", 0.5), ("", 0.5)]
)
async def test_a_job_is_measured_by_the_node_that_it_has(nodes: str, part: float) -> None:
    amounts = {"cpu": 32, "mem": 2048, "node": 1}
    listed_amounts = [{"type": kind, "count": number} for kind, number in amounts.items()]
    async with slurm_rig(NEW, options={"accounting": True, "partition": "gpu"}) as rig:
        listed(rig)
        await rig.engine.facts("gpu", {})
        more = {"tres": {"allocated": listed_amounts}, "nodes": nodes, "partition": "gpu"}
        rig.server.accounted = [{**ACCOUNTED, **more}]
        end = await rig.engine.see(order().target)

    assert end.allotted is not None
    assert end.allotted.part == part


_OF_CLUSTER = {
    "cpus": 4,
    "memory": "8G",
    "gpus": 1,
    "gpuType": "a100",
    "constraint": "h100",
    "options": {"licenses": "x"},
}


@pytest.mark.parametrize(
    "code", [code for code, names in _RESOURCES_OF_CODE.items() if {*names} & _OF_CLUSTER.keys()]
)
async def test_what_slurm_refuses_of_the_cluster_s_resources_ends_no_job_and_names_the_option(
    code: int,
) -> None:
    async with slurm_rig(NEW, options={"resources": _OF_CLUSTER}) as rig:
        rig.server.says, rig.server.takes = (code, "Slurm's own words"), False
        with pytest.raises(Misconfigured, match=r"correct `resources\.\w+` of the cluster$"):
            await rig.engine.submit(order())


async def test_an_option_that_slurmrestd_does_not_know_ends_the_job_that_chose_it() -> None:
    async with slurm_rig(NEW, options=ALLOWED) as rig:
        with pytest.raises(Rejected, match=r"^resources\.options: .*nosuch: ignoring unknown key"):
            await rig.engine.submit(replace(order(), resources={"options": {"nosuch": 1}}))
        assert [job.state for job in rig.model.jobs.values()] == ["CANCELLED"]

    async with slurm_rig(NEW, options={"resources": {"options": {"nosuch": 1}}}) as rig:
        with pytest.raises(Misconfigured, match="ignoring unknown key"):
            await rig.engine.submit(order())
