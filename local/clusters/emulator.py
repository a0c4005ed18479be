"""The Batch AI emulator as the cluster of the stack."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from local.azurite import ACCOUNT
from local.clusters.kind import DATA, LOGS, NAME, ClusterOptions, Running


def _cluster(data: Path) -> dict[str, object]:
    """The settings of the cluster: what its nodes mount, and where they keep environments."""
    packages = {"keep": str(emulator_folder(data) / "environments")}
    return {"engine": "batchai", "mounted": [LOGS, DATA], "packages": packages}


def emulator_folder(data: Path) -> Path:
    """Where it keeps its state and its certificate, in the folder of the stack."""
    return data / "batchai"


@asynccontextmanager
async def start(options: ClusterOptions) -> AsyncIterator[Running]:
    """Run it as a child, which the stack stops. Raises StartError."""
    url = await options.launch(
        "emulator",
        "local.batchai",
        f"--port={options.port}",
        f"--data={emulator_folder(options.data)}",
        f"--storage-connection-string={options.storage.connection_string}",
        "--notice-queue=jobs",
        *options.arguments,
    )
    yield Running(
        url=url,
        settings={"SLIPWAY_BATCHAI_URL": url, "SLIPWAY_CLUSTERS": json.dumps({NAME: _cluster(options.data)})},
        # Azurite has no file shares; the emulator serves those that its nodes mount.
        connection_string=f"{options.storage.connection_string}FileEndpoint={url}/{ACCOUNT};",
    )
