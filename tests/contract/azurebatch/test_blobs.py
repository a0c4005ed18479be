"""Jobs on a cluster whose nodes share no directory: claims, records, logs and outputs in real blobs."""

from __future__ import annotations

import asyncio
import base64
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from azure.storage.blob import ContainerClient

from local.azurite import Azurite
from local.patience import Patience
from shared.core.engine import Observation, Order
from shared.core.errors import NotFound
from shared.core.job import JobState
from shared.engines.batch.engine import BatchEngine
from tests.contract.azurebatch import on_batch
from tests.contract.azurebatch.on_batch import NAME, Account, account
from tests.contract.azurebatch.storage import container
from tests.contract.azurebatch.test_gangs import order

#: Seconds without any progress.
PATIENCE = 60.0
pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Account]:
    async with account(tmp_path_factory.mktemp("batch")) as result:
        yield result


@pytest.fixture
def blobs(storage: Azurite) -> ContainerClient:
    return container(storage, f"c{uuid.uuid4().hex}")


@pytest_asyncio.fixture(loop_scope="session")
async def engine(running: Account, blobs: ContainerClient, tmp_path: Path) -> AsyncIterator[BatchEngine]:
    """It sees no file of the nodes."""
    disks: dict[str, Any] = {"mount_root": f"{tmp_path}/mnt", "temporary": f"{tmp_path}/nodes"}
    result = await on_batch.engine_on(running, shared="", blobs=blobs.url, reads={}, **disks)
    yield result
    await result.close()


async def until_over(engine: BatchEngine, job: Order) -> Observation:
    patience = Patience(PATIENCE)
    while True:
        observation = (await engine.status(NAME, [job.target])).get(job.target.name)
        if observation is not None and observation.state.terminal:
            return observation
        assert not patience.is_over(observation and observation.state), observation
        await asyncio.sleep(0.1)


def job(command: str, nodes: int = 1, **properties: Any) -> Order:
    block = {"customToolkitSettings": {"commandLine": command}, **properties}
    return order(block, nodes)


async def content(engine: BatchEngine, job: Order, directory: str, path: str) -> bytes:
    return (await engine.read(job.target, directory, path, 0, 1 << 20)).data


MODEL: dict[str, Any] = {"outputDirectories": [{"id": "model", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out"}]}


async def test_what_a_job_wrote_is_in_the_container_after_its_node(
    engine: BatchEngine, tmp_path: Path
) -> None:
    write = "cd $AZ_BATCHAI_OUTPUT_model; mkdir deep; head -c 20000000 /dev/zero > deep/w.bin"
    hostile = "touch 'a b#?%41.txt' 'back\\\\slash'; ln -s /etc/passwd link"
    one = job(f"echo one; echo two >&2; {write}; {hostile}; exit 3", **MODEL)
    await engine.submit(one)

    observation = await until_over(engine, one)

    assert (observation.state, observation.exit_code) == (JobState.FAILED, 3)
    assert await content(engine, one, "stdouterr", "stdout.txt") == b"one\n"
    assert await content(engine, one, "stdouterr", "stderr.txt") == b"two\n"
    assert b"non-zero exit code" in await content(engine, one, "stdouterr", "execution.log")
    files = await engine.files(one.target, "model")
    names = {file.name: file.size for file in files if not (file.left_out or file.kind or file.link)}
    assert names == {"deep": None, "a b#?%41.txt": 0}
    assert len(files) == 4, "what is not kept is listed as such"
    (big,) = await engine.files(one.target, "model", "deep")
    assert (big.name, big.size) == ("w.bin", 20_000_000)
    part = await engine.read(one.target, "model", "deep/w.bin", 19_999_990, 100)
    assert (len(part.data), part.next, part.size) == (10, 20_000_000, 20_000_000)
    assert (await engine.read(one.target, "model", "deep/w.bin", 20_000_000, 100)).data == b""
    assert list((tmp_path / "mnt").rglob("w.bin")) == [], "the disk of the node is free again"


@pytest.mark.parametrize("nodes", [1, 2])
async def test_the_log_has_what_the_nodes_print_when_the_job_has_ended(
    engine: BatchEngine, nodes: int
) -> None:
    """What each of them leaves out of the outputs and of what is saved, which it finds out last."""
    prepare = 'mkfifo "$AZ_BATCHAI_OUTPUT_model/pipe-$AZ_BATCH_NODE_ID"'
    block = {**MODEL, "jobPreparation": {"commandLine": prepare}}
    one = job('mkfifo "$SLIPWAY_SAVED/pipe"', nodes, **block)
    await engine.submit(one)

    observation = await until_over(engine, one)

    assert observation.state is JobState.SUCCEEDED, observation
    files = [file.name for file in await engine.files(one.target, "stdouterr")]
    journals = [name for name in files if name.startswith("execution")]
    lines = b"".join([await content(engine, one, "stdouterr", name) for name in journals]).decode()
    pipes = [file.name for file in await engine.files(one.target, "model")]
    assert len(pipes) == nodes
    for pipe in pipes:
        assert f"Not kept: 'model/{pipe}': it is a pipe\n" in lines
    assert "Not saved: 'pipe': only files, folders and links are saved\n" in lines


async def test_the_log_says_that_files_are_missing_and_the_node_keeps_them(
    engine: BatchEngine, tmp_path: Path
) -> None:
    """A directory that its job has replaced by a file cannot be listed."""
    one = job('rmdir "$AZ_BATCHAI_OUTPUT_model"; echo w >"$AZ_BATCHAI_OUTPUT_model"', **MODEL)
    await engine.submit(one)

    observation = await until_over(engine, one)

    assert observation.state is JobState.SUCCEEDED, observation
    journal = (await content(engine, one, "stdouterr", "execution.log")).decode()
    assert "Not a directory" in journal
    assert journal.endswith("Not all files could be uploaded to the container\n")
    assert [file.read_text() for file in (tmp_path / "mnt/out").rglob("*") if file.is_file()] == ["w\n"]


async def test_only_files_of_the_job_are_read(engine: BatchEngine) -> None:
    one, other = job("echo secret"), job("echo mine")
    for each in (one, other):
        await engine.submit(each)
    for each in (one, other):
        await until_over(engine, each)
    attempt = f"../../{one.target.name}"

    for directory, path in (("stdouterr", f"{attempt}/stdouterr/stdout.txt"), ("../x", "a"), ("none", "a")):
        with pytest.raises(NotFound):
            await engine.read(other.target, directory, path, 0, 100)
    with pytest.raises(NotFound):
        await engine.read(
            replace(one, target=one.target.model_copy(update={"token": "x.1"})).target,
            "stdouterr",
            "stdout.txt",
            0,
            100,
        )


@pytest.mark.thorough
async def test_logs_are_read_while_the_job_runs(engine: BatchEngine, tmp_path: Path) -> None:
    one = job(f"echo begun; until [ -e {tmp_path}/go ]; do sleep 0.1; done; echo over")
    await engine.submit(one)
    patience, text = Patience(PATIENCE), b""
    while text != b"begun\n":
        assert not patience.is_over(text)
        await engine.status(NAME, [one.target])
        await asyncio.sleep(0.2)
        try:
            text = await content(engine, one, "stdouterr", "stdout.txt")
        except NotFound:
            continue

    (tmp_path / "go").touch()
    await until_over(engine, one)

    assert await content(engine, one, "stdouterr", "stdout.txt") == b"begun\nover\n"


async def test_records_are_removed_by_the_app_and_files_stay(
    engine: BatchEngine, blobs: ContainerClient
) -> None:
    one = job("echo one")
    await engine.submit(one)
    await until_over(engine, one)
    records = f"{NAME}/attempts/exp/{one.target.name}/"
    assert len(list(blobs.list_blob_names(name_starts_with=records))) > 3
    stranger = one.target.model_copy(update={"token": "x.1"})
    await engine.forget(NAME, [stranger])
    assert list(blobs.list_blob_names(name_starts_with=records)) != []

    assert await engine.forget(NAME, [one.target]) == frozenset()

    assert list(blobs.list_blob_names(name_starts_with=records)) == []
    assert list(blobs.list_blob_names(name_starts_with=f"{NAME}/files/exp/{one.target.name}/")) != []


@pytest.mark.thorough
async def test_the_nodes_of_a_gang_find_each_other_and_each_log_is_kept(
    engine: BatchEngine, tmp_path: Path
) -> None:
    script = tmp_path / "rank.py"
    script.write_text("import os; print('rank', os.environ['AZ_BATCHAI_TASK_INDEX'])")
    block = {
        "customToolkitSettings": None,
        "pyTorchSettings": {
            "pythonScriptFilePath": str(script),
            "communicationBackend": "gloo",
            "pythonInterpreterPath": "python3",
            "processCount": 2,
        },
    }
    gang = job("", nodes=2, **block)
    await engine.submit(gang)

    observation = await until_over(engine, gang)

    names = [file.name for file in await engine.files(gang.target, "stdouterr")]
    assert observation.state is JobState.SUCCEEDED, (observation, names)
    for rank in (0, 1):
        assert await content(engine, gang, "stdouterr", f"stdout-{rank}.txt") == f"rank {rank}\n".encode()


#: Prints the environments of all processes of the task that it is named.
_LOOKS = """
import pathlib, sys, time
for number in range(20):
    for entry in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            text = entry.read_bytes()
        except OSError:
            continue
        if b"AZ_BATCH_TASK_ID=" + sys.argv[1].encode() in text:
            print(entry, text)
    time.sleep(0.1)
"""


@pytest.mark.parametrize("nodes", [1, 2])
async def test_no_process_on_the_nodes_shows_a_job_what_reaches_the_container(
    engine: BatchEngine, nodes: int
) -> None:
    """Neither its own environment nor that of another process: a signature is that of the whole container."""
    job = order({"customMpiSettings": None}, nodes)
    program = base64.b64encode(_LOOKS.encode()).decode()
    command = f"env; echo {program} | base64 -d | python3 -u - {job.target.name}"
    job.document["properties"]["customToolkitSettings"] = {"commandLine": command}
    job.document["properties"]["jobPreparation"] = {"commandLine": "env"}
    await engine.submit(job)

    assert (await until_over(engine, job)).state is JobState.SUCCEEDED

    files = [file for file in await engine.files(job.target, "stdouterr") if file.name.startswith("stdout")]
    texts = [(await engine.read(job.target, "stdouterr", file.name, 0, 1 << 22)).data for file in files]
    assert len(texts) == nodes + 1, "each node was prepared, one runs the command"
    assert all(b"AZ_BATCHAI_NUM_GPUS" in text for text in texts)
    assert max(text.count(b"/proc/") for text in texts) > 20, "it sees processes of its nodes"
    words = (b"sig=", b"SLIPWAY_AGENTS", b"SLIPWAY_PLAN", b"SLIPWAY_KEEP=")
    assert {word for word in words if any(word in text for text in texts)} == set()
