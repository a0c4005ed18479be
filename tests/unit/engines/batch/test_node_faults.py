"""Nodes that cannot run jobs: what people read, and which of them are rebooted, for how long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.admission.reason import sentence
from shared.engines.batch.node_faults import faults
from tests.unit.engines.batch.account import error
from tests.unit.engines.batch.service import Service, engine, order

#: A name as the service gives it.
LONG = f"tvmps_{'a1b2' * 16}_d"
NOON = datetime(2026, 9, 7, 12, tzinfo=UTC)


def node(name: str = LONG, state: str = "starttaskfailed", minutes: float = 5, **more: Any) -> dict[str, Any]:
    allocated = NOON - timedelta(minutes=minutes)
    return {"id": name, "state": state, "allocationTime": f"{allocated:%Y-%m-%dT%H:%M:%SZ}", **more}


async def wait_of(service: Service, requeues: int = 0, **options: Any) -> str:
    """The word and the sentence, as a job shows it, with which a queued job waits."""
    async with engine(service, NOON.timestamp(), **options) as batch:
        await batch.submit(order())
        service.task(order().target.name)["executionInfo"]["requeueCount"] = requeues
        (observed,) = (await batch.status("gpu", [order().target])).values()
    assert observed.why
    return f"{observed.why.word}: {sentence(observed.why)}"


async def test_a_start_task_that_failed_is_named_with_its_exit_code_and_what_to_do() -> None:
    failed = [node(startTaskInfo={"exitCode": 100, "result": "failure"}), node("tvm_2")]
    text = await wait_of(Service(counts={"dedicated": {"startTaskFailed": 2}}, failed=failed))

    assert text == (
        "StartTaskFailed: the start task failed on 2 nodes (exit code 100), billed. Correct it; what failed "
        f"reboots until 12:30 UTC. startup/stderr.txt of {LONG}"
    )


async def test_a_start_task_that_could_not_begin_is_named_with_its_reason() -> None:
    info = {"failureInfo": {"code": "BlobNotFound", "message": "A file\nis\x1b[31m not there"}}
    (text,) = faults([node(startTaskInfo=info)])

    assert "failed on 1 node (BlobNotFound: A file is [31m not there)" in text


async def test_an_unusable_node_is_named_with_its_error() -> None:
    broken = node(
        state="unusable", errors=[{"code": "DiskFull", "message": "There is not enough disk space"}]
    )
    text = await wait_of(Service(counts={"lowPriority": {"unusable": 1}}, failed=[broken]))

    assert text.startswith("NodesUnusable: 1 node cannot be used (DiskFull: There is not enough disk")
    assert text.endswith(f"; what failed reboots until 12:30 UTC: {LONG}")


async def test_a_node_that_takes_no_tasks_is_named_and_left_alone() -> None:
    service = Service(counts={"dedicated": {"offline": 1}}, failed=[node(state="offline")])

    text = await wait_of(service)

    assert text.startswith("NodesOffline: 1 node offline, billed: its scheduling was disabled")
    assert text.endswith(f"`az batch node scheduling enable` ends that: {LONG}")
    assert [call for call in service.calls("POST") if "/nodes" in call] == []


@pytest.mark.parametrize("state", ["starttaskfailed", "unusable"])
async def test_the_longest_error_and_name_leave_room_for_what_to_do(state: str) -> None:
    reason = {"code": "C" * 90, "message": "m" * 900}
    failed = node(state=state, errors=[reason], startTaskInfo={"failureInfo": reason})
    rebooted_already = [node(state=state, minutes=60)] * 999
    counts = {"startTaskFailed" if state == "starttaskfailed" else state: 1000}
    service = Service(counts={"dedicated": counts}, failed=[failed, *rebooted_already])
    texts = [await wait_of(service), await wait_of(service, scales=False), await wait_of(service, requeues=1)]

    assert ["what failed reboots until" in text for text in texts] == [True, False, True]
    assert ["reboot or remove what failed" in text for text in texts] == [False, True, False]
    assert all(LONG in text and "1000 nodes" in text for text in texts)


@pytest.mark.parametrize(
    "odd", [{"startTaskInfo": "x"}, {"startTaskInfo": {"exitCode": "1"}}, {"errors": [7]}, {}]
)
@pytest.mark.parametrize("state", ["starttaskfailed", "unusable"])
def test_a_node_that_says_nothing_readable_is_named_all_the_same(state: str, odd: dict[str, Any]) -> None:
    (text,) = faults([{"state": state, **odd}])

    assert "1 node" in text


async def test_nodes_that_fail_and_cannot_be_read_hide_nothing_else() -> None:
    service = Service(
        counts={"dedicated": {"unusable": 1}}, fail={"GET /pools/t4/nodes": (403, error("Forbidden"))}
    )

    assert (await wait_of(service)).startswith("NodesUnusable: nodes of the cluster gpu are unusable")


async def test_a_node_that_failed_is_rebooted_for_half_an_hour_and_then_left() -> None:
    failed = [node("young", minutes=29), node("old", minutes=31), node("dateless", allocationTime=None)]
    service = Service(counts={"dedicated": {"startTaskFailed": 3}}, failed=failed)

    await wait_of(service)

    assert [call for call in service.calls("POST") if "reboot" in call] == [
        "POST /pools/t4/nodes/young/reboot"
    ]


@pytest.mark.long
async def test_a_node_that_azure_does_not_reboot_is_removed_within_the_same_bound() -> None:
    refused = {"POST /pools/t4/nodes/tvm_1/reboot": (409, error("NodeNotReady"))}
    service = Service(counts={"dedicated": {"unusable": 1}}, fail={**refused})
    now = [NOON.timestamp()]
    async with engine(service, now) as batch:
        await batch.submit(order())
        for minute in range(40):  # each node that replaces another one fails as well
            service.failed = [node("tvm_1", "unusable", minutes=-minute)]
            now[0] = NOON.timestamp() + 60.0 * minute
            await batch.status("gpu", [order().target])

    assert service.calls("POST").count("POST /pools/t4/removenodes") == 30


async def test_a_node_that_starts_again_leaves_the_reason_as_it_was() -> None:
    service, now = Service(), [NOON.timestamp()]
    reasons: list[str] = []
    async with engine(service, now) as batch:
        await batch.submit(order())
        for failed, counts in ((1, {"startTaskFailed": 1}), (0, {"rebooting": 1}), (0, {"starting": 1})) * 2:
            service.failed, service.counts = [node()] * failed, {"dedicated": counts}
            now[0] += 60.0
            observed = (await batch.status("gpu", [order().target]))[order().target.name]
            reasons.append(f"{observed.why}")
        service.failed, service.counts = [], {"dedicated": {"running": 1}}
        now[0] += 60.0
        works = (await batch.status("gpu", [order().target]))[order().target.name].why

    assert len(set(reasons)) == 1
    assert "StartTaskFailed" in reasons[0]
    assert works is not None
    assert works.word == "NodesBusy"


@pytest.mark.parametrize(
    ("options", "fails", "reboots"),
    [
        ({"scales": False}, {}, 0),
        ({}, {"POST /pools/t4/nodes/tvm_1/reboot": (409, error("NodeNotReady"))}, 1),
    ],
)
async def test_a_pool_of_others_is_left_alone_and_a_refused_reboot_fails_no_job(
    options: dict[str, Any], fails: dict[str, Any], reboots: int
) -> None:
    service = Service(counts={"dedicated": {"startTaskFailed": 1}}, failed=[node()], fail=fails)
    async with engine(service, NOON.timestamp(), **options) as batch:
        await batch.submit(order())
        observed = await batch.status("gpu", [order().target])

    assert len(observed) == 1
    assert len([call for call in service.calls("POST") if "reboot" in call]) == reboots


async def test_a_job_that_only_waits_for_its_turn_is_not_told_of_a_node_that_failed() -> None:
    service = Service(counts={"dedicated": {"startTaskFailed": 1, "idle": 1}}, failed=[node()])

    assert (await wait_of(service)).startswith("InTurn")
