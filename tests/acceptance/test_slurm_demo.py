"""`slipway demo --cluster slurm`: the same four jobs on a real Slurm, with the same receipts and webhooks."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from local.slurm import missing
from tests.acceptance.test_demo import LAST

ROOT = Path(__file__).resolve().parents[2]


async def test_the_demo_runs_on_slurm_unchanged() -> None:
    if lacking := missing():
        pytest.skip(f"Slurm is not installed ({', '.join(lacking)} not found): run `make install-slurm`")
    before = set((ROOT / ".local").glob("demo-*"))

    demo = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cli.main", "demo", "--cluster", "slurm"),
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said = (await demo.communicate())[0].decode()

    assert demo.returncode == 0, said
    assert said.splitlines()[-1] == LAST
    for told in ("a Slurm cluster", "→ 0 nodes", "│ epoch ", "diagnostics.txt", "receipt.json", "verified"):
        assert told in said
    assert set((ROOT / ".local").glob("demo-*")) <= before
