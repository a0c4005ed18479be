"""Bad moments of Azure Batch, on the emulator: the engine says what they are, and goes on after them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
import pytest_asyncio

from shared.core.errors import Busy, EngineError, Saturated, Transient
from shared.core.job import JobState
from shared.engines.batch.engine import BatchEngine
from shared.engines.batch.wire.client import BatchClient
from tests.breadth import every_few
from tests.contract.azurebatch.on_batch import NAME, Account, account, engine_on
from tests.contract.azurebatch.test_gangs import ended, order, text, until

_ECHO = {"customToolkitSettings": {"commandLine": "echo ran"}}
_TASKS = "/jobs/*/tasks"
T = TypeVar("T")


class Place:
    """An engine on an account that has bad moments, with a clock that can be put forward."""

    def __init__(self, running: Account) -> None:
        self.client, self._running, self.later = BatchClient(running.url, running.key), running, 0.0

    async def start(self) -> BatchEngine:
        self.engine = await engine_on(self._running, clock=lambda: time.time() + self.later)
        return self.engine

    async def fault(self, code: str, method: str, path: str, **more: Any) -> None:
        body = {"code": code, "method": method, "path": path, **more}
        await self.client.call("POST", "/emulator/faults", body)

    async def faults(self) -> list[Any]:
        return list((await self.client.call("GET", "/emulator/faults")).body["value"])

    async def close(self) -> None:
        await self.engine.close()
        await self.client.close()


@pytest_asyncio.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with account(tmp_path / "batch") as running:
        result = Place(running)
        await result.start()
        yield result
        await result.close()


async def _after_pauses(call: Callable[[], Awaitable[T]]) -> T:
    """The result of a call, once the pauses are over that the service asked for."""
    while True:
        try:
            return await call()
        except Busy as error:
            if "asks for a pause" not in str(error):
                raise
            await asyncio.sleep(0.1)


async def test_a_submission_that_is_refused_says_why_and_succeeds_when_the_moment_is_over(
    place: Place,
) -> None:
    job = order(_ECHO, 1)
    moments: list[tuple[str, str, type[EngineError]]] = [
        ("ActiveJobAndScheduleQuotaReached", "/jobs", Saturated),
        ("JobBeingDeleted", "/jobs", Busy),
        ("JobBeingTerminated", _TASKS, Busy),
        ("ServerBusy", _TASKS, Busy),
        ("TooManyRequests", _TASKS, Busy),
        ("OperationTimedOut", _TASKS, Transient),
    ]
    for code, path, _ in moments:
        await place.fault(code, "POST", path)

    heard: dict[str, type[EngineError]] = {}
    while await place.faults():
        with pytest.raises(EngineError) as caught:
            await _after_pauses(lambda: place.engine.submit(job))
        heard[str(caught.value).split(": ")[1]] = type(caught.value)
    await _after_pauses(lambda: place.engine.submit(job))

    assert heard == {code: kind for code, _, kind in moments}
    assert (await until(place.engine, job.target, ended)).state is JobState.SUCCEEDED
    assert await text(place.engine, job.target, "stdout.txt") == "ran\n"


async def test_a_task_whose_answer_was_lost_is_there_once(place: Place) -> None:
    job = order(_ECHO, 1)
    await place.engine.submit(order(_ECHO, 1))  # now the Batch job is there
    await place.fault("InternalError", "POST", _TASKS, late=True)

    with pytest.raises(Transient):
        await place.engine.submit(job)
    again = await place.engine.submit(job)

    assert again is not None
    tasks = [one["id"] async for one in place.client.listed(f"/jobs/{NAME}-normal/tasks")]
    assert tasks.count(job.target.name) == 1
    assert (await until(place.engine, job.target, ended)).state is JobState.SUCCEEDED


@pytest.mark.parametrize(
    "code",
    every_few(["PoolBeingDeleted", "PoolBeingResized", "TooManyEnableAutoScaleRequests", "ServerBusy"], 0),
)
async def test_a_pool_that_cannot_be_scaled_at_the_moment_fails_no_job(place: Place, code: str) -> None:
    job = order(_ECHO, 1)
    await place.engine.submit(job)
    await place.fault(code, "POST", "/pools/t4/enableautoscale")

    observed = (await place.engine.status(NAME, [job.target]))[job.target.name]
    assert await place.faults() == [], "the formula was refused"
    assert observed.state is JobState.QUEUED
    place.later += 120

    assert (await until(place.engine, job.target, ended)).state is JobState.SUCCEEDED


async def test_a_list_that_is_refused_is_no_end_of_a_job(place: Place) -> None:
    job = order({"customToolkitSettings": {"commandLine": "sleep 1000"}}, 1)
    await place.engine.submit(job)
    await place.fault("ServerBusy", "GET", _TASKS)

    with pytest.raises(Busy):
        await place.engine.status(NAME, [job.target])
    observed = (await _after_pauses(lambda: place.engine.status(NAME, [job.target])))[job.target.name]

    assert not observed.state.terminal


async def test_a_bad_moment_that_the_emulator_does_not_know_is_refused_by_name(place: Place) -> None:
    with pytest.raises(EngineError, match=r"PropertyName: code; Reason: It is one of .*ServerBusy"):
        await place.fault("Nonsense", "POST", "/jobs")
    with pytest.raises(EngineError, match="path"):
        await place.fault("ServerBusy", "POST", "jobs")
