"""A pool that cannot run jobs, on the emulator: the engine says why, and replaces the node that failed."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest_asyncio

from shared.core.engine import Observation
from shared.core.job import JobState, Reason
from shared.engines.batch.engine import BatchEngine
from shared.engines.batch.wire.client import BatchClient
from tests.contract.azurebatch.on_batch import Account, account, engine_on
from tests.contract.azurebatch.test_gangs import ended, order, until

ECHO: dict[str, Any] = {"customToolkitSettings": {"commandLine": "echo one"}}
#: How much faster than this machine's the engine's clock is: it looks at a pool every half minute.
SPEED = 20.0


@pytest_asyncio.fixture
async def running(tmp_path: Path) -> AsyncIterator[Account]:
    async with account(tmp_path / "batch") as result:
        yield result


@pytest_asyncio.fixture
async def engine(running: Account) -> AsyncIterator[BatchEngine]:
    start = time.time()
    result = await engine_on(running, clock=lambda: start + (time.time() - start) * SPEED)
    yield result
    await result.close()


async def tell(running: Account, path: str, **body: Any) -> None:
    client = BatchClient(running.url, running.key)
    try:
        await client.call("POST", f"/emulator/pools/t4{path}", body)
    finally:
        await client.close()


async def nodes_of(running: Account) -> list[str]:
    client = BatchClient(running.url, running.key)
    try:
        return [str(one["id"]) async for one in client.listed("/pools/t4/nodes")]
    finally:
        await client.close()


def waits_for(word: str) -> Callable[[Observation], bool]:
    def check(observation: Observation) -> bool:
        return observation.why is not None and observation.why.word == word

    return check


async def test_a_job_waits_for_machines_that_azure_does_not_have_and_runs_when_there_are_some(
    running: Account, engine: BatchEngine
) -> None:
    job = order(ECHO, 1)
    await tell(running, "/resizeerrors", code="AllocationTimedout", times=3)
    await engine.submit(job)

    waiting = await until(engine, job.target, waits_for("NoCapacity"))
    end = await until(engine, job.target, ended)

    assert waiting.why
    assert waiting.why.lacks_capacity
    assert "AllocationTimedout" in waiting.why.text
    assert end.state is JobState.SUCCEEDED


async def test_a_node_whose_start_task_failed_is_named_replaced_and_runs_the_job(
    running: Account, engine: BatchEngine
) -> None:
    first = order({"customToolkitSettings": {"commandLine": "sleep 1000"}}, 1)
    await engine.submit(first)
    await until(engine, first.target, lambda observation: observation.state is JobState.RUNNING)
    (node,) = await nodes_of(running)
    await tell(running, f"/nodes/{node}/fail", state="starttaskfailed", exitCode=100)

    waiting = await until(engine, first.target, waits_for("StartTaskFailed"))
    again = await until(engine, first.target, lambda observation: observation.state is JobState.RUNNING)

    assert waiting.why
    assert "failed on 1 node (exit code 100)" in waiting.why.text
    assert f"startup/stderr.txt of {node}" in waiting.why.text
    assert again.state is JobState.RUNNING
    assert node not in await nodes_of(running), "Azure reboots no node in that state"
    await engine.cancel(first.target)


async def test_a_job_on_a_pool_that_runs_nothing_but_containers_fails_with_what_to_change(
    running: Account, engine: BatchEngine
) -> None:
    client = BatchClient(running.url, running.key)
    try:
        machine = (await client.call("GET", "/pools/t4")).body["virtualMachineConfiguration"]
        machine["containerConfiguration"] = {"type": "dockerCompatible"}
        await client.call("PATCH", "/pools/t4", {"virtualMachineConfiguration": machine})
    finally:
        await client.close()
    job = order(ECHO, 1)
    await engine.submit(job)

    end = await until(engine, job.target, ended)

    assert (end.state, end.reason) == (JobState.FAILED, Reason.INFRASTRUCTURE)
    assert "ContainerTaskSettingsNotFound" in str(end.message)
    assert "make it without containerConfiguration" in str(end.message)
