"""The client for Python: the page's code, as a person would run it, on the real stack."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from tests.acceptance.door import Door

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "how-to" / "use-from-python.md"
CODE = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
pytestmark = pytest.mark.asyncio(loop_scope="session")

TRAIN = """import json, os, sys, pathlib
print("trained with", sys.argv[1:], flush=True)
for epoch in (1, 2):
    print(json.dumps({"slipway": {"epoch": epoch, "loss": 1 / epoch, "other": 0}}), flush=True)
pathlib.Path(os.environ["AZ_BATCHAI_OUTPUT_MODEL"], "weights.txt").write_text("0.5")
"""
FAILS = """
from slipway import Client, JobFailed

try:
    Client().run("fails.py").result()
except JobFailed as failed:
    print(failed.job.exit_code, failed)
"""


async def python(door: Door, cwd: Path, code: str) -> str:
    """What it printed; it ended well."""
    environment = {"PYTHONPATH": str(ROOT), "SLIPWAY_URL": door.stack.host_url, "SLIPWAY_KEY": door.key}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code),
        cwd=cwd,
        env={**os.environ, **door.stack.settings, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


async def test_the_code_of_the_page_runs_a_job_and_brings_its_model_home(door: Door, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)

    output = await python(door, tmp_path, CODE[0])

    assert output.count("trained with ['--lr', '0.1']") == 2, output
    assert (tmp_path / "out/MODEL/weights.txt").read_text() == "0.5"


@pytest.mark.thorough
async def test_the_code_of_the_page_reads_the_numbers_of_the_last_job(door: Door, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    await python(door, tmp_path, CODE[0])

    lines = (await python(door, tmp_path, CODE[1])).splitlines()

    assert lines == [f"stdouterr/stdout-{rank}.txt loss [1, 2] [1, 0.5]" for rank in (0, 1)]


@pytest.mark.thorough
async def test_the_code_of_the_page_runs_two_jobs_at_once(door: Door, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)

    assert len(re.findall(r"\S+ succeeded\n", await python(door, tmp_path, CODE[2]))) == 2


@pytest.mark.thorough
async def test_the_code_of_the_page_ranks_the_jobs_of_a_sweep(door: Door, tmp_path: Path) -> None:
    counts, *ranked = (await python(door, tmp_path, CODE[3])).splitlines()

    assert counts == "{'succeeded': 3}"
    assert [line.split()[1] for line in ranked] == ["0.1", "0.2", "0.3"]


@pytest.mark.thorough
async def test_a_failure_has_the_last_lines(door: Door, tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("import sys\nsys.exit('no data at all')\n")

    output = await python(door, tmp_path, FAILS)

    assert "failed" in output
    assert "no data at all" in output
