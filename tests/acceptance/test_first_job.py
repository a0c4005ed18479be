"""docs/how-to/run-a-first-job.md: each of its commands, in their order, by a shell."""

from __future__ import annotations

import asyncio
import os
import re
import textwrap
from pathlib import Path

import pytest

from tests.acceptance.door import Door

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/how-to/run-a-first-job.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.asyncio(loop_scope="session")


def blocks(language: str) -> list[str]:
    """The code of the page in one language."""
    return [
        textwrap.dedent(match) for match in re.findall(rf"^ *```{language}\n(.*?)^ *```$", PAGE, re.M | re.S)
    ]


async def test_the_page_does_what_it_says(door: Door, tmp_path: Path) -> None:
    (script,) = blocks("python")
    (tmp_path / "train.py").write_text(script)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "slipway").write_text(f'#!/bin/sh\nexec "{ROOT}/.venv/bin/python" -m slipway.main "$@"\n')
    (programs / "slipway").chmod(0o755)
    environment = {
        **os.environ,
        **door.stack.settings,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "SLIPWAY_URL": door.stack.host_url,
        "SLIPWAY_KEY": door.key,
    }

    output = []
    for block in blocks("sh"):
        shell = await asyncio.create_subprocess_exec(
            *("bash", "-euxo", "pipefail", "-c", block),
            cwd=tmp_path,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await shell.communicate()
        output.append(out.decode())
        assert shell.returncode == 0, output[-1]

    run, both, failed, later, log_text = output
    assert "epoch 4: loss 0.03125" in run
    assert run.endswith("0.03125")
    assert both.endswith("weights-0.txt\nweights-1.txt\n")
    assert "it failed with 1" in failed
    assert failed.count("a loss of 0.125 is not good enough") >= 3  # run, show, log
    assert "succeeded" in later
    assert (tmp_path / "later/MODEL/weights-0.txt").read_text() == "0.125"
    assert "valid" in log_text
    assert (tmp_path / "again/MODEL/weights-0.txt").is_file()
