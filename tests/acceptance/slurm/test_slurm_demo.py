"""`slipway demo --cluster slurm`: the same four jobs on a real Slurm, with the same receipts and webhooks."""

from __future__ import annotations

import pytest

from local.slurm import missing_programs
from tests.acceptance.test_demo import shown


async def test_the_demo_runs_on_slurm_unchanged() -> None:
    if lacking := missing_programs():
        pytest.skip(f"Slurm is not installed ({', '.join(lacking)} not found): run `make install-slurm`")

    output = await shown("--cluster", "slurm")

    assert "a Slurm cluster" in output
    assert "→ 0 nodes" in output
