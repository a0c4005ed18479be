"""The Batch AI emulator as the cluster of the stack."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from local.azurite import ACCOUNT
from local.clusters.kind import DATA, LOGS, Running, Wanted


def emulator_folder(data: Path) -> Path:
    """Where it keeps its state and its certificate, in the folder of the stack."""
    return data / "batchai"


@asynccontextmanager
async def start(wanted: Wanted) -> AsyncIterator[Running]:
    """Run it as a child, which the stack stops. Raises StartError."""
    url = await wanted.launch(
        "emulator",
        "local.batchai",
        f"--port={wanted.port}",
        f"--data={emulator_folder(wanted.data)}",
        f"--storage-connection-string={wanted.storage.connection_string}",
        "--notice-queue=jobs",
        *wanted.arguments,
    )
    yield Running(
        url=url,
        settings={"SLIPWAY_BATCHAI_URL": url, "SLIPWAY_CLUSTER_MOUNTS": f"{LOGS},{DATA}"},
        # Azurite has no file shares; the emulator serves those that its nodes mount.
        connection_string=f"{wanted.storage.connection_string}FileEndpoint={url}/{ACCOUNT};",
    )
