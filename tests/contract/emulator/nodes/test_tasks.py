"""Tasks and the launcher that starts them, as real processes."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from local.nodes.launcher import Launcher
from local.nodes.tasks import Task, TaskLost, end, run
from tests.contract.emulator.conftest import until
from tests.saving import SAVE, WAYS


def task(root: Path, name: str, command: str) -> Task:
    return Task(
        directory=root / name,
        argv=("bash", "-c", command),
        env={"PATH": os.environ["PATH"]},
        cwd=root,
        stdout=root / f"{name}.out",
        stderr=root / f"{name}.err",
    )


@pytest_asyncio.fixture(loop_scope="session")
async def launcher() -> AsyncIterator[Launcher]:
    running = Launcher()
    yield running
    await running.close()


async def test_a_launcher_that_is_killed_takes_no_task_with_it(launcher: Launcher, tmp_path: Path) -> None:
    children = set(psutil.Process().children())
    go = tmp_path / "go"
    waiting = asyncio.create_task(
        run(task(tmp_path, "first", f"echo here; while [ ! -e {go} ]; do sleep 0.05; done; exit 4"), launcher)
    )

    async def started() -> str:
        output = tmp_path / "first.out"
        return output.read_text() if output.exists() else ""

    await until(started)
    (program,) = set(psutil.Process().children()) - children
    program.send_signal(signal.SIGKILL)

    async def removed() -> bool:
        return not program.is_running()

    await until(removed)
    second = await run(task(tmp_path, "second", "exit 5"), launcher)
    go.touch()

    assert (await waiting, second) == (4, 5)


async def test_a_task_that_cannot_be_carried_out_is_lost_alone(launcher: Launcher, tmp_path: Path) -> None:
    nowhere = replace(task(tmp_path, "nowhere", "true"), stdout=tmp_path / "missing" / "stdout.txt")

    with pytest.raises(TaskLost):
        await run(nowhere, launcher)

    assert await run(task(tmp_path, "next", "exit 3"), launcher) == 3


async def test_many_tasks_at_once_keep_their_exit_codes(launcher: Launcher, tmp_path: Path) -> None:
    codes = await asyncio.gather(
        *(run(task(tmp_path, str(code), f"exit {code}"), launcher) for code in range(50))
    )

    assert codes == list(range(50))


async def test_a_closed_launcher_leaves_its_tasks_running(tmp_path: Path) -> None:
    launcher = Launcher()
    go, end = tmp_path / "go", tmp_path / "end"
    command = f"echo here; while [ ! -e {go} ]; do sleep 0.05; done; touch {end}"
    waiting = asyncio.create_task(run(task(tmp_path, "job", command), launcher))

    async def started() -> bool:
        return (tmp_path / "job.out").exists()

    await until(started)
    await launcher.close()
    go.touch()

    assert await waiting == 0
    assert end.exists()


async def test_a_task_gets_its_standard_input_whole(launcher: Launcher, tmp_path: Path) -> None:
    text = "line\n" * 50_000

    code = await run(replace(task(tmp_path, "reads", "cat"), text=text), launcher)
    ignored = await run(replace(task(tmp_path, "reads-not", "exit 3"), text=text), launcher)

    assert (code, ignored) == (0, 3)
    assert (tmp_path / "reads.out").read_text() == text


@pytest.mark.parametrize("way", WAYS)
async def test_a_task_that_is_ended_saves_however_it_was_started(
    launcher: Launcher, tmp_path: Path, way: str
) -> None:
    (tmp_path / "save.py").write_text(SAVE)
    command = WAYS[way].format(save=f"{sys.executable} {tmp_path}/save.py {tmp_path} 1.5")
    order = replace(task(tmp_path, "job", command), grace=30)
    waiting = asyncio.create_task(run(order, launcher))

    async def began() -> bool:
        return (tmp_path / "began").exists()

    await until(began)
    await end(order.directory, order.grace)

    assert ((tmp_path / "saved").read_text(), (tmp_path / "asked").read_text()) == ("all", "x")
    with suppress(TaskLost):
        await waiting


async def test_a_task_that_saves_for_too_long_is_killed(launcher: Launcher, tmp_path: Path) -> None:
    (tmp_path / "save.py").write_text(SAVE)
    command = f"{sys.executable} {tmp_path}/save.py {tmp_path} 600\necho after"
    order = replace(task(tmp_path, "job", command), grace=0.5)
    waiting = asyncio.create_task(run(order, launcher))

    async def began() -> bool:
        return (tmp_path / "began").exists()

    await until(began)
    await end(order.directory, order.grace)

    assert (tmp_path / "asked").read_text() == "x"
    assert not (tmp_path / "saved").exists()
    commands = [one.info["cmdline"] for one in psutil.process_iter(["cmdline"])]
    assert not [words for words in commands if words and str(tmp_path / "save.py") in words]
    with suppress(TaskLost):
        await waiting
