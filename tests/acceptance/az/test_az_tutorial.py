"""The recipe of docs/reference/emulator.md: its files are written, its commands run in order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.acceptance.az.az import AZ, REASON, Az

pytestmark = [
    pytest.mark.skipif(not AZ, reason=REASON),
    pytest.mark.asyncio(loop_scope="session"),
]

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "emulator.md").read_text(encoding="utf-8")
RECIPE = PAGE.partition("\n### The recipe\n")[2].partition("\n### ")[0]


async def test_the_tutorial_works_as_it_is_written(az: Az) -> None:
    blocks = dict(re.findall(r"```(\w+)\n(.*?)```", RECIPE, re.DOTALL))
    (az.folder / "train.py").write_text(blocks["python"])
    (az.folder / "job.json").write_text(blocks["json"])
    text = re.sub(r"```.*?```", "", RECIPE, flags=re.DOTALL).replace("\\\n", " ").replace("$USER", "me")
    commands = [shlex.split(line) for line in text.splitlines() if line.startswith("    az ")]

    output = {" ".join(words[1:5]): await az.say(*words[1:]) for words in commands}

    assert len(commands) == len(output) + 1  # two shares are made by one command
    assert output["batchai job file stream"] == "training\n"
    assert "succeeded" in output["batchai job show -n"]
    assert "model.txt" in output["batchai job file list"]
