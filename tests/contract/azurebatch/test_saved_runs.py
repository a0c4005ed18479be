"""What a job saves on nodes that share no directory is there for its next run or attempt, and for the app."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from azure.storage.blob import ContainerClient

from local.azurite import Azurite
from local.patience import Patience
from shared.core.engine import Earlier, Observation, Order
from shared.core.errors import NotAFile, NotFound
from shared.core.job import JobState, Reason, Target
from shared.core.visible import escaped
from shared.engines.batch.engine import BatchEngine
from shared.engines.batch.wire.client import BatchClient
from tests.contract.azurebatch import on_batch
from tests.contract.azurebatch.on_batch import NAME, Account, account
from tests.contract.azurebatch.storage import container
from tests.contract.azurebatch.test_gangs import ended, order, until
from tests.names import REFUSED, TREE, each, tree, writes

#: Seconds without any progress.
PATIENCE = 60.0
pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class Rig:
    """An engine whose nodes share nothing but a container."""

    engine: BatchEngine
    blobs: ContainerClient
    running: Account

    async def run(self, job: Order) -> Observation:
        await self.engine.submit(job)
        return await until(self.engine, job.target, ended)

    async def text(self, target: Target, directory: str, path: str) -> str:
        return (await self.engine.read(target, directory, path, 0, 1 << 20)).data.decode()

    async def has_saved(self, target: Target, path: str) -> bool:
        try:
            await self.engine.read(target, "saved", path, 0, 1)
        except NotFound:
            return False
        return True

    async def preempt(self, target: Target) -> None:
        client = BatchClient(self.running.url, self.running.key)
        task = (await client.call("GET", f"/jobs/{NAME}-normal/tasks/{target.name}")).body
        node = task["nodeInfo"]["nodeId"]
        await client.call("POST", f"/emulator/pools/t4/nodes/{node}/preempt")
        await client.close()

    def saved(self, target: Target, folder: str) -> list[str]:
        prefix = f"{NAME}/saved/{target.job_id}/{folder}"
        return [str(name) for name in self.blobs.list_blob_names(name_starts_with=prefix)]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Account]:
    async with account(tmp_path_factory.mktemp("batch"), **{"preempted-seconds": "0.5"}) as result:
        yield result


@pytest_asyncio.fixture(loop_scope="session")
async def rig(running: Account, storage: Azurite, tmp_path: Path) -> AsyncIterator[Rig]:
    blobs = container(storage, f"c{uuid.uuid4().hex}")
    disks: dict[str, Any] = {"mount_root": f"{tmp_path}/mnt", "temporary": f"{tmp_path}/nodes", "spot": True}
    engine = await on_batch.engine_on(running, shared="", blobs=blobs.url, reads={}, **disks)
    yield Rig(engine, blobs, running)
    await engine.close()


def job(command: str, nodes: int = 1, **properties: Any) -> Order:
    return order({"customToolkitSettings": {"commandLine": command}, **properties}, nodes)


def next_attempt(before: Order, command: str) -> Order:
    """The attempt that follows a failed one."""
    job_id = before.target.job_id
    target = before.target.model_copy(update={"name": f"{before.target.name}-2", "token": f"{job_id}.2"})
    again = job(command)
    return replace(again, target=target, earlier=(Earlier(before.target, "user"),))


@pytest.mark.parametrize("nodes", [1, 2])
async def test_a_job_goes_on_where_it_was_when_its_node_was_taken_away(rig: Rig, nodes: int) -> None:
    count = (
        'cd "$SLIPWAY_SAVED"; n=$(cat step 2>/dev/null || echo 0); echo "begins at $n"; '
        'if [ "$n" -gt 0 ]; then exit 0; fi; '
        "while :; do n=$((n + 1)); echo $n >step.new; mv step.new step; sleep 0.2; done"
    )
    one = job(count, nodes)
    await rig.engine.submit(one)
    patience = Patience(PATIENCE)
    while not await rig.has_saved(one.target, "step"):
        await rig.engine.status(NAME, [one.target])
        assert not patience.is_over(len(list(rig.blobs.list_blob_names())))
        await asyncio.sleep(0.2)

    await rig.preempt(one.target)
    end = await until(rig.engine, one.target, ended)

    assert (end.state, end.message) == (JobState.SUCCEEDED, "")
    log = await rig.text(one.target, "stdouterr", "stdout.txt")
    assert log.startswith("begins at ")
    assert int(log.split()[-1]) > 0
    logs = await rig.engine.files(one.target, "stdouterr")
    journals = [await rig.text(one.target, "stdouterr", log.name) for log in logs if "execution" in log.name]
    assert "Restored 1 files that the job saved" in "".join(journals)


async def test_what_a_job_saved_is_shown_and_read_and_goes_with_its_records(rig: Rig) -> None:
    writes = (
        'cd "$SLIPWAY_SAVED"; mkdir -p step-3/empty; printf weights >step-3/w.bin; ln -s step-3/w.bin last; '
        "touch 'back\\slash'; exit 3"
    )
    one = job(writes)
    end = await rig.run(one)
    target = one.target
    assert (end.state, end.exit_code) == (JobState.FAILED, 3)

    page = await rig.engine.page(target, "saved", ".", "")
    inside = await rig.engine.files(target, "saved", "step-3")

    assert [(file.name, file.size, file.link, file.left_out) for file in page.files] == [
        (escaped("back\\slash"), None, False, True),
        ("last", None, True, False),
        ("step-3", None, False, False),
    ]
    assert [(file.name, file.size) for file in inside] == [("empty", None), ("w.bin", 7)]
    assert inside[1].modified is not None
    assert await rig.text(target, "saved", "step-3/w.bin") == "weights"
    part = await rig.engine.read(target, "saved", "step-3/w.bin", 3, 2)
    assert (part.data, part.next, part.size) == (b"gh", 5, 7)
    with pytest.raises(NotAFile):
        await rig.engine.read(target, "saved", "step-3", 0, 1)
    for path in ("none", "last", "../generations", "step-3/../step-3/w.bin"):
        with pytest.raises(NotFound):
            await rig.engine.read(target, "saved", path, 0, 1)

    assert await rig.engine.forget(NAME, [target]) == frozenset()
    assert rig.saved(target, "") == []


async def test_what_the_records_of_another_job_name_is_not_removed(rig: Rig) -> None:
    one, other = job('echo 1 >"$SLIPWAY_SAVED/w"'), job('echo 2 >"$SLIPWAY_SAVED/w"')
    for order_of_job in (one, other):
        await rig.run(order_of_job)

    await rig.engine.forget(NAME, [one.target])

    assert rig.saved(one.target, "") == []
    assert await rig.text(other.target, "saved", "w") == "2\n"


async def test_an_output_directory_of_that_name_is_the_job_s_own(rig: Rig) -> None:
    outputs = [{"id": "saved", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out"}]
    one = job(
        'echo mine >"$AZ_BATCHAI_OUTPUT_saved/w"; echo 1 >"$SLIPWAY_SAVED/w"', outputDirectories=outputs
    )
    await rig.run(one)

    assert await rig.text(one.target, "saved", "w") == "mine\n"
    assert await rig.text(one.target, "saved_", "w") == "1\n"


async def test_a_run_that_cannot_restore_what_its_job_saved_starts_nothing_and_keeps_it(rig: Rig) -> None:
    first = job('echo 7 >"$SLIPWAY_SAVED/step"; exit 3')
    await rig.run(first)
    (part,) = rig.saved(first.target, "parts/")
    rig.blobs.upload_blob(part, b"other bytes", overwrite=True)
    manifests = rig.saved(first.target, "generations/")

    second = next_attempt(first, "echo started")
    end = await rig.run(second)

    assert (end.state, end.reason) == (JobState.FAILED, Reason.INFRASTRUCTURE)
    assert end.message.startswith("What the job saved was not restored: ")
    assert end.message.endswith("has other bytes than were saved")
    with pytest.raises(NotFound):
        await rig.text(second.target, "stdouterr", "stdout.txt")
    assert rig.saved(first.target, "generations/") == manifests


async def test_a_directory_that_its_job_removed_changes_nothing_of_what_it_saved(rig: Rig) -> None:
    first = job('echo 7 >"$SLIPWAY_SAVED/step"; exit 3')
    await rig.run(first)
    second = next_attempt(first, 'rm -r "$SLIPWAY_SAVED"; ln -s /etc "$SLIPWAY_SAVED"')

    assert (await rig.run(second)).state is JobState.SUCCEEDED

    assert await rig.text(second.target, "saved", "step") == "7\n"
    assert [file.name for file in await rig.engine.files(second.target, "saved")] == ["step"]


async def test_a_file_of_any_name_comes_back(rig: Rig) -> None:
    files = TREE | tree(each(REFUSED))
    lists = "find . -type f | LC_ALL=C sort; find . -type f -exec sha256sum {} + | LC_ALL=C sort"
    digest = f'cd "$SLIPWAY_SAVED"; ({lists}) | sha256sum; find . -type f -print0 | tr -dc "\\\\0" | wc -c'
    first = job(f"{writes(files, 'SLIPWAY_SAVED')}; {digest}; exit 3")
    second = next_attempt(first, digest)

    await rig.run(first)
    await rig.run(second)

    before = await rig.text(first.target, "stdouterr", "stdout.txt")
    assert before.split()[-1] == str(len(files))
    assert await rig.text(second.target, "stdouterr", "stdout.txt") == before
