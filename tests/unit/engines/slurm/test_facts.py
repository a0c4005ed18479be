"""What a partition lets jobs have, in each dialect, and what that means for a submission."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from shared.core.errors import Rejected
from shared.core.facts import ClusterFacts
from shared.core.job import JobState
from shared.engines.launch.plan import PLAN
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.facts import facts_of
from shared.engines.slurm.job.request import submission
from shared.engines.slurm.wire.dialect import DIALECTS
from tests.crash.slurm.slurmrestd import OLD
from tests.unit.engines.slurm.test_engine import BOTH, order, slurm_rig

DAY = timedelta(days=1)
NODES = [
    {"name": "n1", "partitions": ["p"], "gres": "gpu:a100:4(S:0-1),gpu:h100:2,nvme:8", "real_memory": 4096},
    {"name": "n2", "partitions": ["p"], "gres": "", "real_memory": 8192},
    {"name": "n3", "partitions": ["p"], "gres": "gpu:1", "real_memory": 1024},
]
ENDLESS = {"set": False, "infinite": True, "number": 0}


def cluster(**options: Any) -> SlurmCluster:
    return SlurmCluster("gpu", url="https://head", user="u", shared="/s", **options)


def old(name: str = "p", *, minutes: int | None = -1, nodes: int | None = -1, **more: Any) -> dict[str, Any]:
    return {"name": name, "flags": [], "max_time_limit": minutes, "maximum_nodes_per_job": nodes, **more}


def new(name: str = "p", *, minutes: Any = ENDLESS, nodes: Any = ENDLESS) -> dict[str, Any]:
    return {"name": name, "maximums": {"time": minutes, "nodes": nodes}}


def number(value: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": value}


@pytest.mark.parametrize(
    ("partition", "nodes", "longest"),
    [
        (old(), 3, None),
        (old(minutes=None, nodes=None), 3, None),
        (old(minutes=0xFFFFFFFF, nodes=0xFFFFFFFE), 3, None),
        (old(minutes=1440, nodes=2), 2, DAY),
        (old(minutes=1440, nodes=9), 3, DAY),
        (new(), 3, None),
        (new(minutes={"set": False, "infinite": False, "number": 5}), 3, None),
        (new(minutes=number(1440), nodes=number(2)), 2, DAY),
        (new(minutes=number(0xFFFFFFFF)), 3, None),
        (new(minutes=1440, nodes=2), 2, DAY),
        ({"name": "p", "maximums": {}}, 3, None),
    ],
)
def test_a_partition_says_how_many_nodes_and_how_much_time_a_job_may_have(
    partition: dict[str, Any], nodes: int, longest: timedelta | None
) -> None:
    facts = facts_of(cluster(partition="p"), [old("other", minutes=1), partition], NODES)
    assert facts == ClusterFacts(max_nodes=nodes, gpus=6, memory=8192, longest=longest)


@pytest.mark.parametrize(("total", "lists_all"), [(3, True), (4, False), (None, False)])
@pytest.mark.parametrize("is_old", [True, False])
def test_the_nodes_are_all_there_can_be_where_slurm_lists_as_many_as_the_partition_has(
    total: int | None, *, lists_all: bool, is_old: bool
) -> None:
    partition = old(total_nodes=total) if is_old else {**new(), "nodes": {"total": total}}

    facts = facts_of(cluster(partition="p"), [partition], NODES)

    assert (facts.max_nodes, facts.lists_all) == (3, lists_all)


def test_without_a_name_the_partition_is_the_default_one_or_the_only_one() -> None:
    marked = [old("a", minutes=5), old("b", minutes=60, flags=["default"])]
    assert facts_of(cluster(), marked, []).longest == timedelta(hours=1)
    assert facts_of(cluster(), [new("a", minutes=number(60))], []).longest == timedelta(hours=1)
    assert facts_of(cluster(), [new("a", minutes=number(60)), new("b")], []).longest is None
    assert facts_of(cluster(partition="gone"), marked, []) == ClusterFacts()


@pytest.mark.parametrize(
    ("longest", "written", "minutes", "seconds"),
    [
        ("", None, 7 * 1440 + 2, 7 * 86400),
        ("", "P1D", 1442, 86400),
        ("P1D", None, 1440, 86400),
        ("P1D", "P1D", 1440, 86400),
        ("P1D", "PT23H59M", 1440, 86340),
        ("P1D", "PT1H", 62, 3600),
        ("P30D", None, 7 * 1440 + 2, 7 * 86400),
        ("PT90S", "PT61S", 2, 61),
    ],
)
def test_the_time_that_is_asked_for_and_its_slack_stay_within_the_limit_of_the_partition(
    longest: str, written: str | None, minutes: int, seconds: int
) -> None:
    constraints: dict[str, Any] = {"constraints": {"maxWallClockTime": written}} if written else {}
    body = submission(cluster(max_wall_clock=longest), DIALECTS[-1], order(**constraints)).body
    assert body["job"]["time_limit"] == minutes
    assert f'"seconds":{seconds},' in body["job"]["environment"][PLAN]


@BOTH
async def test_what_a_partition_allows_is_asked_once_in_some_minutes_however_many_jobs_come(
    version: str,
) -> None:
    async with slurm_rig(version, options={"partition": "p"}) as rig:
        rig.server.partitions = [old(minutes=60) if version == OLD else new(minutes=number(60))]
        rig.server.nodes = NODES
        for index in range(20):
            await rig.engine.submit(order(f"n{index}"))
            assert (await rig.engine.facts("gpu", {})).longest == timedelta(hours=1)
        assert sorted(rig.server.looks) == ["nodes", "partitions"]

        rig.server.partitions = [old() if version == OLD else new()]
        rig.later(301)
        assert (await rig.engine.facts("gpu", {})).longest is None
        assert len(rig.server.looks) == 4


@BOTH
async def test_a_job_above_the_limit_of_its_partition_ends_with_field_and_limit_and_is_not_submitted(
    version: str,
) -> None:
    async with slurm_rig(version, options={"partition": "p"}) as rig:
        rig.server.partitions = [old(minutes=60) if version == OLD else new(minutes=number(60))]
        with pytest.raises(Rejected, match=r"constraints\.maxWallClockTime: gpu .*no job run for P2D.*PT1H"):
            await rig.engine.submit(order(constraints={"maxWallClockTime": "P2D"}))
        assert rig.model.jobs == {}


@BOTH
@pytest.mark.parametrize(("written", "message"), [("P2D", "run for P2D"), (None, "P7D, the default")])
async def test_a_limit_that_only_slurm_knows_is_reported_with_the_field(
    version: str, written: str | None, message: str
) -> None:
    async with slurm_rig(version) as rig:
        rig.server.says, rig.server.takes = (2051, "Requested time limit is invalid"), False
        constraints: dict[str, Any] = {"constraints": {"maxWallClockTime": written}} if written else {}
        with pytest.raises(Rejected, match=rf"properties\.constraints\.maxWallClockTime: .*{message}.*2051"):
            await rig.engine.submit(order(**constraints))


@BOTH
async def test_a_job_that_slurm_took_and_does_not_start_is_left_in_its_queue(version: str) -> None:
    """v0.0.38 tells an error with the job's number, the others a warning of the call that took the job."""
    async with slurm_rig(version) as rig:
        output = "Requested partition configuration not available now"
        if version == OLD:
            rig.server.says = (2015, output)
        else:
            rig.server.waits = [output]
        observation = await rig.engine.submit(order())
        assert observation is not None
        assert observation.state is JobState.QUEUED
        assert [job.state for job in rig.model.jobs.values()] == ["PENDING"]
