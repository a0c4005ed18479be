"""The commands of the README's five minutes, in its order, against the deployment of these tests."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.acceptance.door import Door, unique

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.asyncio(loop_scope="session")
#: A command in a block, or in a sentence.
_COMMAND = re.compile(r"^slipway ([^#\n]+)|`slipway ([a-z][^`\n]*)`", re.MULTILINE)


def _commands() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    part = text.partition("## Features in five minutes")[2].partition("## The page")[0]
    return [(match[1] or match[2]).strip() for match in _COMMAND.finditer(part)]


async def _slipway(door: Door, cwd: Path, words: Sequence[str]) -> tuple[int | None, str]:
    """Run a command as the README has it: address, key and storage are in the environment."""
    ours = {name: text for name, text in door.stack.settings.items() if name.startswith("SLIPWAY_")}
    command = await asyncio.create_subprocess_exec(
        *(*door.slipway, *words),
        cwd=cwd,
        env=os.environ | ours | {"SLIPWAY_URL": door.stack.host_url, "SLIPWAY_KEY": door.key},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await command.communicate()
    return command.returncode, output.decode()


@pytest.mark.thorough
async def test_each_command_of_the_readme_works_in_its_order(door: Door, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    folder = tmp_path / unique("readme")
    folder.mkdir()
    (folder / "train.py").write_text("import sys\nprint(sys.argv[1:])\n")
    commands, job = _commands(), ""
    assert len(commands) > 8

    for command in commands:
        places = {"FOLDER": str(folder), "JOB": job, "FILE": "examples/hello/job.json"}
        words = [places.get(word, word) for word in shlex.split(command)]
        if words[0] == "code":  # of the job that has run the folder
            words[1] = folder.name
        if "receipt.json" in words:
            (receipt,) = {one["receipt"] for one in await door.jobs(name=job)}
            content = await door.receipt_file(receipt.removeprefix("runs/"))
            assert content
            (tmp_path / "receipt.json").write_bytes(content)
        code, output = await _slipway(door, tmp_path, words)
        assert code == 0, (command, output)
        if "--lr" in words:
            assert "['--lr', '0.1']" in output
        if words[0] == "submit":
            job = (await door.jobs())[0]["name"]
            await door.ended(name=job)
