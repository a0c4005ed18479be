"""The demo's four jobs on Slurm: the same receipts and events as on the emulator, member by member."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.slurm import missing_programs
from tests.acceptance.azurebatch.answers import compared


async def test_both_engines_leave_the_same_receipts_and_events(tmp_path: Path) -> None:
    if lacking := missing_programs():
        pytest.skip(f"Slurm is not installed ({', '.join(lacking)} not found): run `make install-slurm`")

    await compared(tmp_path, "slurm", "slurm", "slurmrestd")
