"""The demo on the emulator of Azure Batch: from zero nodes and back, with the answers of Batch AI."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from azure.storage.blob.aio import ContainerClient

from local.stack import Stack
from tests.acceptance.azurebatch.answers import compared
from tests.acceptance.test_demo import most_and_last_nodes, shown


@pytest.mark.thorough
async def test_the_demo_runs_on_azure_batch_unchanged() -> None:
    output = await shown("--cluster", "batch")

    assert "the emulator of Azure Batch" in output
    assert most_and_last_nodes(output) == (2, 0)


@pytest.mark.thorough
async def test_both_engines_leave_the_same_receipts_and_events(tmp_path: Path) -> None:
    await compared(tmp_path, "batch", "batch", "Azure", inspect=_logs_are_blobs)


async def _logs_are_blobs(stack: Stack) -> None:
    """Every job that ran has logs in the container, and the app sees no directory of the nodes."""
    (cluster,) = json.loads(stack.settings["SLIPWAY_CLUSTERS"]).values()
    string = stack.settings["SLIPWAY_STORAGE"]
    async with ContainerClient.from_connection_string(string, cluster["blobs"].rpartition("/")[2]) as blobs:
        names = [name async for name in blobs.list_blob_names()]
    logged_jobs = {name.split("/")[3] for name in names if "/files/" in name and "/stdouterr/stdout" in name}

    assert "reads" not in cluster
    assert len(logged_jobs) == 3
