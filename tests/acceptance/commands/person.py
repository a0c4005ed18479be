"""A person at a shell: the command, with the addresses and the settings of the stack."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.acceptance.door import Door

ROOT = Path(__file__).resolve().parents[3]
#: The commands that write to storage themselves, and so read settings.
SETTINGS = ("drop", "enqueue", "rerun", "explain")
#: The program itself, for what a signal ends.
PROGRAM = (sys.executable, "-m", "slipway.main")


async def slipway(door: Door, cwd: Path, *words: str) -> tuple[int | None, str, str]:
    command = await started(door, cwd, *words, program=door.slipway)
    out, err = await command.communicate()
    return command.returncode, out.decode(), err.decode()


async def started(
    door: Door,
    cwd: Path,
    *words: str,
    program: Sequence[str] = PROGRAM,
    stdin: int = asyncio.subprocess.DEVNULL,
) -> asyncio.subprocess.Process:
    settings = cwd / "local.settings.json"
    settings.write_text(json.dumps({"Values": dict(door.stack.settings)}))
    output: tuple[str, ...] = ("--url", door.stack.host_url, "--key", door.key)
    output += ("--settings", str(settings)) if words[0] in SETTINGS else ()
    return await asyncio.create_subprocess_exec(
        *(*program, words[0], *output, *words[1:]),
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=stdin,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def json_of(door: Door, cwd: Path, *words: str) -> dict[str, Any]:
    """What a command prints that calls no API."""
    settings = cwd / "settings.json"
    settings.write_text(json.dumps({"Values": dict(door.stack.settings)}))
    command = await asyncio.create_subprocess_exec(
        *(*door.slipway, *words, "--settings", str(settings)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await command.communicate()
    assert command.returncode == 0, err.decode()
    result: dict[str, Any] = json.loads(out)
    return result
