"""`slipway tensorboard` beside a job that runs: its points as they come, and no process after Ctrl-C."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.acceptance.commands.person import PROGRAM, ROOT
from tests.acceptance.door import Door, eventually, shell, unique
from tests.acceptance.pages.boards import TENSORBOARD, paths, program

pytestmark = pytest.mark.asyncio(loop_scope="session")

#: Writes points, and more of them once a file is there, each time.
WRITES = """cd "$AZ_BATCHAI_OUTPUT_CURVES"; mkdir run; set -e
for part in 1 2 3; do
  while ! [ -e {flags}/$part ]; do sleep 0.1; done
  for n in 1 2 3 4 5; do echo "$part.$n" >> run/events.out.tfevents.1.node.1.0; done
done"""


async def started(door: Door, folder: Path, *words: str) -> asyncio.subprocess.Process:
    path = f"{folder / 'programs'}:{os.environ['PATH']}"
    return await asyncio.create_subprocess_exec(
        *(*PROGRAM, "tensorboard", "--url", door.stack.host_url, "--key", door.key, *words),
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PATH": path, "TMPDIR": str(folder)},
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )


async def lines(folder: Path, count: int) -> dict[str, list[str]]:
    """What the stand-in has seen, once it is so many lines."""

    async def seen_so_far() -> dict[str, list[str]] | None:
        file = folder / "lines.json"
        result = json.loads(file.read_text()) if file.exists() else {}
        return result if sum(map(len, result.values())) >= count else None

    return await eventually(seen_so_far, f"{count} lines of event files")


async def writing(door: Door, folder: Path) -> tuple[str, str]:
    """A job that writes an event file, and its name."""
    name, flags = unique("curves"), shlex.quote(str(folder))
    directories = [{"id": "CURVES", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}]
    document: Any = {
        "name": name,
        "spec": shell(WRITES.replace("{flags}", flags), outputDirectories=directories),
    }
    _, job, _ = await door.call("POST", "jobs", document)
    return str(job["id"]), name


async def test_points_are_seen_as_they_come_and_ctrl_c_leaves_no_process(door: Door, tmp_path: Path) -> None:
    program(tmp_path, "tensorboard", TENSORBOARD)
    (tmp_path / "enough").write_text("1000")
    job, name = await writing(door, tmp_path)
    command = await started(door, tmp_path, name, "--", "--port", "1")
    expected = list[str]()
    for part in "123":
        (tmp_path / part).touch()
        expected += [f"{part}.{n}" for n in range(1, 6)]
        (result,) = (await lines(tmp_path, len(expected))).items()
        assert result == (f"{name}-{job[2:18]}/CURVES/run", expected)
    assert (await door.ended(id=job))["state"] == "succeeded"
    tool = json.loads((tmp_path / "started.json").read_text())
    children = psutil.Process(command.pid).children(recursive=True)
    assert {child.pid for child in children} >= {tool["server"]}

    command.send_signal(signal.SIGINT)
    _, errors = await command.communicate()

    assert (command.returncode, errors) == (130, b"")
    assert [child for child in children if child.is_running() and child.status() != "zombie"] == []
    assert tool["arguments"][2:] == ["--port", "1"]
    assert Path(tool["arguments"][1]).parent == tmp_path
    assert paths(tmp_path, "slipway-tensorboard-*") == []


async def test_it_ends_with_tensorboard_also_for_a_sweep_and_keeps_what_to_names(
    door: Door, tmp_path: Path
) -> None:
    for part in "123":
        (tmp_path / part).touch()
    program(tmp_path, "tensorboard", TENSORBOARD)
    (tmp_path / "enough").write_text("30")
    directories = [{"id": "CURVES", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}]
    command = ": {lr}; " + WRITES.replace("{flags}", shlex.quote(str(tmp_path)))
    name = unique("tune")
    sweep = {"name": name, "sweep": {"lr": [0.1, 0.2]}, "spec": shell(command, outputDirectories=directories)}
    _, begun, _ = await door.call("POST", "sweeps", sweep)

    for named in (begun["sweepId"], name):
        board = await started(door, tmp_path, named, "--to", "kept")
        _, errors = await board.communicate()
        assert (board.returncode, errors) == (0, b"")

    _, listed, _ = await door.call("GET", f"jobs?sweep={begun['sweepId']}")
    files = [path.relative_to(tmp_path).as_posix() for path in paths(tmp_path / "kept", "events*")]
    folders = sorted(f"kept/{job['name']}-{job['id'][2:18]}/CURVES/run" for job in listed["jobs"])
    assert files == [f"{folder}/events.out.tfevents.1.node.1.0" for folder in folders]


async def test_without_tensorboard_the_remedy_is_named(door: Door, tmp_path: Path) -> None:
    command = await asyncio.create_subprocess_exec(
        *(*PROGRAM, "tensorboard", "last", "--url", door.stack.host_url, "--key", door.key),
        env=os.environ | {"PYTHONPATH": str(ROOT), "PATH": str(tmp_path)},
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await command.communicate()

    assert command.returncode == 1
    assert b"pipx install tensorboard" in errors
