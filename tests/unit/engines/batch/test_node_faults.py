"""Nodes that cannot run jobs: what people read, and which of them are rebooted, for how long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.engines.batch.node_faults import faults
from tests.unit.engines.batch.account import error
from tests.unit.engines.batch.service import Service, engine, order

#: A name as the service gives it.
LONG = f"tvmps_{'a1b2' * 16}_d"
NOON = datetime(2026, 9, 7, 12, tzinfo=UTC)


def node(name: str = LONG, state: str = "starttaskfailed", minutes: float = 5, **more: Any) -> dict[str, Any]:
    allocated = NOON - timedelta(minutes=minutes)
    return {"id": name, "state": state, "allocationTime": f"{allocated:%Y-%m-%dT%H:%M:%SZ}", **more}


async def wait_of(service: Service) -> str:
    """The word and the sentence with which a queued job waits."""
    async with engine(service, NOON.timestamp()) as batch:
        await batch.submit(order())
        (observed,) = (await batch.status("gpu", [order().target])).values()
    assert observed.why
    return f"{observed.why.word}: {observed.why.text}"


async def test_a_start_task_that_failed_is_named_with_its_exit_code_and_what_to_do() -> None:
    failed = [node(startTaskInfo={"exitCode": 100, "result": "failure"}), node("tvm_2")]
    text = await wait_of(Service(counts={"dedicated": {"startTaskFailed": 2}}, failed=failed))

    assert text.startswith("StartTaskFailed: the start task failed on 2 nodes (exit code 100), billed")
    assert text.endswith(
        f"Correct it, then reboot or remove what failed. startup/stderr.txt of {LONG} says more"
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
    assert text.endswith(f"Reboot or remove what failed: {LONG}")


@pytest.mark.parametrize("state", ["starttaskfailed", "unusable"])
async def test_the_longest_error_and_name_leave_room_for_what_to_do(state: str) -> None:
    reason = {"code": "C" * 90, "message": "m" * 900}
    failed = [node(state=state, errors=[reason], startTaskInfo={"failureInfo": reason})] * 100
    counts = {"startTaskFailed" if state == "starttaskfailed" else state: 100}
    text = await wait_of(Service(counts={"dedicated": counts}, failed=failed))

    assert "eboot or remove what failed" in text
    assert LONG in text


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
