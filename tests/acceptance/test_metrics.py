"""docs/how-to/plot-metrics.md: each of its commands, and the same numbers from the API."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path

import pytest

from tests.acceptance.door import Door

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/how-to/plot-metrics.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.asyncio(loop_scope="session")


def blocks(language: str) -> list[str]:
    """The code of the page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


async def test_the_page_does_what_it_says(door: Door, tmp_path: Path) -> None:
    (script,) = blocks("python")
    (tmp_path / "train.py").write_text(script)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "slipway").write_text(f'#!/bin/sh\nexec "{ROOT}/.venv/bin/python" -m slipway.main "$@"\n')
    (programs / "slipway").chmod(0o755)
    shell = await asyncio.create_subprocess_exec(
        *("bash", "-euxo", "pipefail", "-c", "\n".join(blocks("sh"))),
        cwd=tmp_path,
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

    head, *lines = (tmp_path / "loss.tsv").read_text().splitlines()
    assert head == "name\tfile\trank\taxis\tx\tvalue"
    assert lines == [
        f"loss\tstdouterr/stdout-0.txt\t\tepoch\t{n}\t{1 / n if n > 1 else 1}" for n in range(1, 31)
    ]
    (loss,) = json.loads((tmp_path / "loss.json").read_text())["series"]
    assert (loss["count"], loss["points"][-1]) == (30, [30, 1 / 30])

    job = (await door.jobs(name="train"))[0]
    _, answer, _ = await door.call("GET", f"jobs/{job['id']}/metrics?points=10")
    series = {one["name"]: one for one in answer["series"]}
    assert len(series["accuracy"]["points"]) <= 10
    assert series["loss"]["points"][0] == [1, 1]
    memory = series["memory_mib"]
    assert (memory["file"], memory["axis"], memory["rank"]) == ("stdouterr/usage.jsonl", "time", 0)
    _, later, _ = await door.call("GET", f"jobs/{job['id']}/metrics?after={answer['next']}")
    assert (later["series"], later["more"]) == ([], False)
