"""The code of a page of the documentation, and a shell that runs it as its reader would."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import textwrap
from pathlib import Path

from tests.acceptance.door import PATIENCE, Door

ROOT = Path(__file__).resolve().parents[3]


def blocks(page: str, language: str) -> list[str]:
    """The code of a page below `docs` in one language."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [
        textwrap.dedent(match) for match in re.findall(rf"^ *```{language}\n(.*?)^ *```$", text, re.M | re.S)
    ]


def programs(folder: Path) -> Path:
    """The folder of the programs that a reader has first in their PATH."""
    answer = folder / "programs"
    answer.mkdir(parents=True, exist_ok=True)
    return answer


def environment(door: Door, folder: Path) -> dict[str, str]:
    """The variables of a reader in the folder, whose `slipway` is at the stack behind the door."""
    program = programs(folder) / "slipway"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(door.slipway)} "$@"\n')
    program.chmod(0o755)
    return {
        **os.environ,
        **door.stack.settings,
        "PATH": f"{programs(folder)}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "SLIPWAY_URL": door.stack.host_url,
        "SLIPWAY_KEY": door.key,
    }


async def play(door: Door, folder: Path, commands: str) -> str:
    """What commands print in the folder, all of which succeed; `slipway` is at the stack behind the door."""
    with (folder / "output.txt").open("w+") as output:
        shell = await asyncio.create_subprocess_exec(
            *("bash", "-euxo", "pipefail", "-c", commands),
            cwd=folder,
            env=environment(door, folder),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(2 * PATIENCE):
                code: int | str = await shell.wait()
        except TimeoutError:
            shell.kill()
            code = f"it stood still; active: {await _active(door)}"
        output.seek(0)
        text = output.read()
    assert code == 0, f"{code}\n{text}"
    return text


async def _active(door: Door) -> str:
    """What else may hold the nodes, or what the command waits for."""
    _, listed, _ = await door.call("GET", "jobs?state=active")
    records = [(await door.call("GET", f"jobs/{job['id']}"))[1] for job in listed["jobs"]]
    _, clusters, _ = await door.call("GET", "clusters")
    return json.dumps([records, clusters], indent=1)
