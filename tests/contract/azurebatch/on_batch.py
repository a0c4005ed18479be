"""The engine on the emulator of Azure Batch: a pool from zero, whose nodes share a directory."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local import azurite
from local.azurebatch.settings import ACCOUNT, KEY
from local.process import child
from shared.engines.batch.account import Account as BatchAccount
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.engine import BatchEngine
from shared.engines.batch.provision import provision
from shared.engines.batch.storage.access import Access
from shared.engines.batch.storage.access import SharedKey as StorageKey
from shared.engines.batch.wire.sign import SharedKey, key_from
from shared.engines.proofs import Proofs
from shared.engines.provisioning import Plan

NAME = "dev-cluster-00"
_PROOFS = Proofs(("the deployment's",))
_SIZE = Plan()


@dataclass(frozen=True)
class Account:
    """The emulator that runs, and the directory that its nodes share."""

    url: str
    key: SharedKey
    shared: Path
    #: address of a container: what nodes and app share instead of the directory
    blobs: str = ""


@asynccontextmanager
async def account(data: Path, **options: str) -> AsyncIterator[Account]:
    """The emulator for the length of the block; `options` are its own, without dashes."""
    shared = data / "shared"
    (shared / "mounts" / "logs").mkdir(parents=True)
    command = [sys.executable, "-m", "local.azurebatch", f"--data={data}/emulator", "--until-stdin-closes"]
    usual = {"provisioning-seconds": "0.1", "leaving-seconds": "0.1", "autoscale-seconds": "1"}
    words = [word for name, value in {**usual, **options}.items() for word in (f"--{name}", value)]
    async with child([*command, *words], name="azurebatch") as emulator:
        url = (await emulator.line(r"^ready (\S+)"))[1]
        yield Account(url, key_from(ACCOUNT, KEY, "the emulator"), shared)


async def engine_on(
    running: Account, *, clock: Callable[[], float] = time.time, **options: Any
) -> BatchEngine:
    """An engine whose one cluster has a pool there; it sees what its nodes share."""
    shared = str(running.shared)
    values: dict[str, Any] = {
        "pool": "t4",
        "shared": shared,
        "mount_root": f"{shared}/mounts",
        "temporary": f"{shared}/nodes",
        "path": os.environ["PATH"],
        "max_nodes": 4,
        "gpus": 1,
        "node_memory": 28 * 1024,
        "reads": {shared: shared},
        **({"shared": "", "blobs": running.blobs, "reads": {}} if running.blobs else {}),
        **options,
    }
    cluster = BatchCluster(NAME, running.url, **values)
    for stage in provision(cluster, running.key, _SIZE, BatchAccount(cluster)):
        async for _ in stage.steps:
            pass
    access = Access(cluster, key=StorageKey(azurite.ACCOUNT, azurite.KEY))
    return BatchEngine(
        {NAME: cluster},
        {NAME: running.key},
        containers={NAME: access},
        clock=clock,
        proofs=Proofs(("the deployment's",)),
    )
