"""The code of a page of the documentation, and a shell that runs it as its reader would."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import textwrap
from pathlib import Path

from tests.acceptance.door import Door

ROOT = Path(__file__).resolve().parents[3]


def blocks(page: str, language: str) -> list[str]:
    """The code of a page below `docs` in one language."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [
        textwrap.dedent(match) for match in re.findall(rf"^ *```{language}\n(.*?)^ *```$", text, re.M | re.S)
    ]


async def play(door: Door, folder: Path, commands: str) -> str:
    """What commands print in the folder, all of which succeed; `slipway` is at the stack behind the door."""
    programs = folder / "programs"
    programs.mkdir(parents=True, exist_ok=True)
    (programs / "slipway").write_text(f'#!/bin/sh\nexec {shlex.join(door.slipway)} "$@"\n')
    (programs / "slipway").chmod(0o755)
    shell = await asyncio.create_subprocess_exec(
        *("bash", "-euxo", "pipefail", "-c", commands),
        cwd=folder,
        env={
            **os.environ,
            **door.stack.settings,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "SLIPWAY_URL": door.stack.host_url,
            "SLIPWAY_KEY": door.key,
        },
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await shell.communicate()
    assert shell.returncode == 0, out.decode()
    return out.decode()
