"""Jobs in containers on Azure Batch, on the emulator; Docker is a program of the tests."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from shared.core.job import JobState
from shared.engines.batch.engine import BatchEngine
from tests.contract.azurebatch.on_batch import account, engine_on
from tests.contract.azurebatch.test_gangs import ended, order, text, until

_DOCKER = Path(__file__).with_name("docker")
PASSWORD, SECRET = "right-canary", "red-bird-0815"


@pytest_asyncio.fixture
async def boxes(tmp_path: Path) -> AsyncIterator[tuple[BatchEngine, Path]]:
    """An engine whose nodes have a Docker, and the home of that."""
    home = tmp_path / "docker"
    (home / "bin").mkdir(parents=True)
    shutil.copy(_DOCKER, home / "bin" / "docker")
    async with account(tmp_path / "batch") as running:
        path = f"{home / 'bin'}:{os.environ['PATH']}"
        engine = await engine_on(running, container="docker", path=path, max_nodes=2, min_nodes=1)
        yield engine, home
        await engine.close()


def boxed(password: str = PASSWORD) -> dict[str, Any]:
    credentials = {"username": "puller", "password": password}
    registry = {"image": "private/digits:3", "credentials": credentials}
    return {
        "containerSettings": {"imageSourceRegistry": registry, "shmSize": "2g"},
        "secrets": [{"name": "TOKEN", "value": SECRET}],
    }


def calls(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home / "calls").read_text().splitlines()]


async def test_a_job_runs_in_the_container_that_its_preparation_was_in(
    boxes: tuple[BatchEngine, Path],
) -> None:
    engine, home = boxes
    job = order(
        {
            **boxed(),
            "jobPreparation": {"commandLine": "echo prepared in $OF_THE_IMAGE >prepared"},
            "customToolkitSettings": {"commandLine": "cat prepared; echo $HOME $TOKEN; exit 7"},
        },
        1,
    )

    await engine.submit(job)
    end = await until(engine, job.target, ended)

    assert (end.state, end.exit_code) == (JobState.FAILED, 7)
    assert await text(engine, job.target, "stdout.txt") == f"prepared in yes\n/root {SECRET}\n"
    verbs = [call["argv"][0] for call in calls(home)]
    assert verbs == ["ps", "login", "pull", "run", "exec", "exec", "stop", "rm"]
    assert list((home / "containers").iterdir()) == []
    words = next(call["argv"] for call in calls(home) if call["argv"][0] == "run")
    assert words[words.index("--gpus") + 1] == "all"
    assert words[words.index("--shm-size") + 1] == "2g"


async def test_no_secret_is_in_a_command_line_or_a_log_and_none_of_the_registry_s_in_the_job(
    boxes: tuple[BatchEngine, Path],
) -> None:
    engine, home = boxes
    job = order({**boxed(), "customToolkitSettings": {"commandLine": "env"}}, 1)

    await engine.submit(job)
    assert (await until(engine, job.target, ended)).state is JobState.SUCCEEDED

    lines = json.dumps([call["argv"] for call in calls(home)])
    assert PASSWORD not in lines
    assert SECRET not in lines
    environment = await text(engine, job.target, "stdout.txt")
    assert f"TOKEN={SECRET}" in environment
    assert PASSWORD not in environment
    assert "canary" not in await text(engine, job.target, "execution.log")


async def test_a_wrong_password_is_told_without_it(boxes: tuple[BatchEngine, Path]) -> None:
    engine, home = boxes
    job = order({**boxed("wrong-canary"), "customToolkitSettings": {"commandLine": "true"}}, 1)

    await engine.submit(job)
    end = await until(engine, job.target, ended)

    assert end.state is JobState.FAILED
    assert end.message.startswith("A node could not be made ready: ")
    assert "unauthorized: incorrect username or password" in end.message
    assert "canary" not in end.message
    log = await text(engine, job.target, "execution.log")
    assert "unauthorized: incorrect username or password" in log
    assert "canary" not in log
    assert "exec" not in [call["argv"][0] for call in calls(home)]


@pytest.mark.thorough
async def test_each_node_of_a_job_has_its_container_and_its_rank(
    boxes: tuple[BatchEngine, Path], tmp_path: Path
) -> None:
    engine, home = boxes
    script = tmp_path / "rank.py"
    script.write_text("import os\nprint(os.environ['AZ_BATCHAI_TASK_INDEX'], os.environ['OF_THE_IMAGE'])\n")
    block = {"caffe2Settings": {"pythonScriptFilePath": str(script), "pythonInterpreterPath": "python3"}}
    job = order({**boxed(), **block}, 2)

    await engine.submit(job)
    assert (await until(engine, job.target, ended)).state is JobState.SUCCEEDED

    assert [await text(engine, job.target, f"stdout-{rank}.txt") for rank in range(2)] == [
        "0 yes\n",
        "1 yes\n",
    ]
    runs = [call["argv"] for call in calls(home) if call["argv"][0] == "run"]
    assert len({words[words.index("--name") + 1] for words in runs}) == 2
    assert list((home / "containers").iterdir()) == []


async def test_what_a_killed_run_has_left_on_a_node_is_removed_by_the_next_one_there(
    boxes: tuple[BatchEngine, Path],
) -> None:
    engine, home = boxes
    leftover = home / "containers" / "left"
    waits = f"while [ ! -e {leftover} ]; do sleep 0.1; done; env | grep ^AZ_BATCH_NODE_ID="
    first = order({**boxed(), "customToolkitSettings": {"commandLine": waits}}, 1)
    second = order({**boxed(), "customToolkitSettings": {"commandLine": f"test ! -e {leftover}"}}, 1)
    await engine.submit(first)
    await until(engine, first.target, lambda one: one.state is JobState.RUNNING)
    while not (label := "".join(one.read_text() for one in (home / "containers").glob("slipway-*"))):  # noqa: ASYNC110 - Docker tells no one
        await asyncio.sleep(0.1)
    leftover.write_text(label)
    (home / "containers" / "another-node").write_text("slipway.node=another")
    assert (await until(engine, first.target, ended)).state is JobState.SUCCEEDED

    await engine.submit(second)
    end = await until(engine, second.target, ended)

    assert label == f"slipway.node={(await text(engine, first.target, 'stdout.txt')).split('=')[1].strip()}"
    assert end.state is JobState.SUCCEEDED
    assert [one.name for one in (home / "containers").iterdir()] == ["another-node"]
