"""A job on nodes with no shared directory is asked to end by an object; only later its task is terminated."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from azure.storage.blob import ContainerClient

from local.azurite import Azurite
from local.patience import Patience
from shared.core.engine import Observation
from shared.core.errors import NotFound
from shared.core.job import JobState, Reason, Target
from shared.engines.batch.engine import BatchEngine
from tests.contract.azurebatch import on_batch
from tests.contract.azurebatch.on_batch import NAME, Account, account
from tests.contract.azurebatch.storage import container
from tests.contract.azurebatch.test_blobs import MODEL, job

#: Seconds without any progress.
PATIENCE = 60.0
#: Saves for longer than the emulator lets a task that it terminates; its shell ends at once.
WAIT = "while :; do sleep 0.1; done"
_TRAP = 'trap "sleep 5; echo all >$AZ_BATCHAI_OUTPUT_model/saved; exit" TERM'
SAVE = f"sh -c '{_TRAP}; echo began; {WAIT}'; echo after"
pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class Time:
    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Rig:
    engine: BatchEngine
    blobs: ContainerClient
    time: Time = field(default_factory=Time)

    async def starts(self, command: str, **properties: Any) -> Target:
        """A job that has begun."""
        one = job(command, **{**MODEL, **properties})
        await self.engine.submit(one)
        await self.until_written(one.target, "stdouterr", "stdout.txt")
        return one.target

    async def until_written(self, target: Target, directory: str, path: str) -> bytes:
        patience = Patience(PATIENCE)
        while True:
            await self.engine.status(NAME, [target])
            try:
                if data := (await self.engine.read(target, directory, path, 0, 1000)).data:
                    return data
            except NotFound:
                assert not patience.is_over(None)
            await asyncio.sleep(0.1)

    async def end(self, target: Target) -> Observation:
        patience = Patience(PATIENCE)
        while not (observation := await self.engine.see(target)).state.terminal:
            assert not patience.is_over(observation.state)
            await asyncio.sleep(0.1)
        return observation

    def request(self, target: Target) -> str:
        """The object by which it is asked."""
        (name,) = [one for one in self.blobs.list_blob_names() if one.endswith(f"/{target.name}/asked")]
        return str(name)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Account]:
    async with account(tmp_path_factory.mktemp("batch")) as result:
        yield result


@pytest_asyncio.fixture(loop_scope="session")
async def rig(running: Account, storage: Azurite, tmp_path: Path) -> AsyncIterator[Rig]:
    blobs, time = container(storage, f"c{uuid.uuid4().hex}"), Time()
    disks: dict[str, Any] = {"mount_root": f"{tmp_path}/mnt", "temporary": f"{tmp_path}/nodes"}
    engine = await on_batch.engine_on(running, clock=time, shared="", blobs=blobs.url, reads={}, **disks)
    yield Rig(engine, blobs, time)
    await engine.close()


async def test_what_a_job_saves_after_the_request_is_in_the_container(rig: Rig) -> None:
    target = await rig.starts(SAVE)

    for _ in range(3):
        await rig.engine.cancel(target)
    observation = await rig.end(target)

    assert (observation.state, observation.reason) == (JobState.CANCELLED, Reason.TERMINATED)
    assert await rig.until_written(target, "model", "saved") == b"all\n"


async def test_a_job_that_outstays_its_time_is_terminated_by_a_later_call(rig: Rig) -> None:
    target = await rig.starts(SAVE)
    await rig.engine.cancel(target)

    rig.time.now += 3600
    await rig.engine.cancel(target)

    assert (await rig.end(target)).state is JobState.CANCELLED
    assert not [one for one in rig.blobs.list_blob_names() if one.endswith("/model/saved")]


async def test_a_job_that_puts_something_in_the_place_of_the_request_is_terminated_at_once(rig: Rig) -> None:
    target = await rig.starts(SAVE)
    folder = next(
        one.partition("claim.json")[0]
        for one in rig.blobs.list_blob_names()
        if one.endswith(f"/{target.name}/claim.json")
    )
    rig.blobs.upload_blob(f"{folder}asked", json.dumps({"asked": 1.0}))
    assert target.name in await rig.engine.at_work(NAME)

    await rig.engine.cancel(target)

    assert (await rig.end(target)).state is JobState.CANCELLED


async def test_a_job_that_removes_the_request_has_no_more_time(rig: Rig) -> None:
    target = await rig.starts(SAVE)
    await rig.engine.cancel(target)
    rig.blobs.delete_blob(rig.request(target))

    rig.time.now += 3600
    await rig.engine.cancel(target)

    assert (await rig.end(target)).state is JobState.CANCELLED


async def test_a_request_is_removed_with_the_records(rig: Rig) -> None:
    target = await rig.starts(f"echo began; {WAIT}")
    await rig.engine.cancel(target)
    await rig.end(target)
    assert rig.request(target)

    assert await rig.engine.forget(NAME, [target]) == frozenset()

    assert not [one for one in rig.blobs.list_blob_names() if one.endswith("/asked")]


async def test_a_job_is_terminated_at_once_where_the_storage_lets_no_request_through(rig: Rig) -> None:
    target = await rig.starts(SAVE)
    rig.blobs.delete_container()

    await rig.engine.cancel(target)

    assert target.name not in await rig.engine.at_work(NAME)
