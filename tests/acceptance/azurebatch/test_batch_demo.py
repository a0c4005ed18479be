"""The demo on the emulator of Azure Batch: from zero nodes and back, with the answers of Batch AI."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.azurebatch.answers import compared
from tests.acceptance.test_demo import shown


@pytest.mark.thorough
async def test_the_demo_runs_on_azure_batch_unchanged() -> None:
    output = await shown("--cluster", "batch")

    assert "the emulator of Azure Batch" in output
    assert "0 → 2 nodes" in output
    assert "→ 0 nodes" in output


@pytest.mark.thorough
async def test_both_engines_leave_the_same_receipts_and_events(tmp_path: Path) -> None:
    await compared(tmp_path, "batch", "batch", "Azure")
