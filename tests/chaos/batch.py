"""The emulator of Azure Batch in a chaos run: killed by SIGKILL while tasks run, and nodes taken away."""

from __future__ import annotations

import json
import random
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from azure.storage.blob.aio import ContainerClient

from local.azurebatch.settings import ACCOUNT, KEY
from local.azurite import ACCOUNT as STORAGE
from local.clusters.kind import NAME, SCRIPTS
from local.mirrored import directory, mirrored
from local.node_python import node_python
from local.process import Child, child
from shared.core.errors import EngineError
from shared.engines.batch.wire.client import BatchClient
from shared.engines.batch.wire.sign import key_from

_POOL = "nodes"
_CONTAINER = "slipway"
_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_OPTIONS = (
    "--provisioning-seconds=0.1",
    "--leaving-seconds=0.1",
    "--autoscale-seconds=1",
    "--until-stdin-closes",
)
#: One of so many jobs is on two nodes.
GANGS = 5


class MortalBatch:
    """One account in as many lives as it takes. `kills` counts those that ended by SIGKILL."""

    def __init__(self, data: Path, dice: random.Random) -> None:
        self.url, self.kills, self.preempted = "", 0, 0
        self._data, self._dice = data, dice
        self._life = AsyncExitStack()
        self._now: Child | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Its first life; the address holds for all of them."""
        try:
            await self._live(0)
            yield
        finally:
            await self._life.aclose()

    async def settings(self, url: str, storage: str, nodes: int) -> dict[str, str]:
        """Those of a cluster there for the app. `url`: of the account, as it is reached."""
        async with ContainerClient.from_connection_string(storage, _CONTAINER) as container:
            await container.create_container()
            blobs = str(container.url)
        python = await node_python(self._data / "python")
        cluster = {
            "engine": "batch",
            "url": url,
            "account": ACCOUNT,
            "pool": _POOL,
            "blobs": blobs,
            "mountRoot": str(self._data / "mounts"),
            "temporary": str(self._data / "nodes"),
            "path": f"{python}:{_SYSTEM}",
            "mounts": {f"{STORAGE}/{SCRIPTS}": str(directory(self._data, SCRIPTS))},
            "maxNodes": nodes,
            "spot": True,
        }
        return {
            "SLIPWAY_CLUSTER": NAME,
            "SLIPWAY_CLUSTERS": json.dumps({NAME: cluster}),
            "SLIPWAY_BATCH_KEYS": json.dumps({NAME: KEY}),
        }

    def mounted(self, storage: str) -> AbstractAsyncContextManager[None]:
        """The container of drops on the nodes, for the length of a block."""
        return mirrored(self._data, storage, [SCRIPTS])

    async def kill(self) -> None:
        """End it by SIGKILL and start it again."""
        dying = self._now
        assert dying is not None
        dying.signal(signal.SIGKILL)
        await dying.wait()
        self.kills += 1
        await self._life.aclose()
        await self._live(urlsplit(self.url).port or 0)

    async def preempt(self) -> None:
        """Take two nodes away at once, if there are any."""
        async with self._client() as client:
            with suppress(EngineError):  # it is about to be killed, or the node has gone by itself
                nodes = [one async for one in client.listed(f"/pools/{_POOL}/nodes")]
                busy = [str(one["id"]) for one in nodes if one["state"] == "running"]
                for node in self._dice.sample(busy, min(2, len(busy))):
                    await client.call("POST", f"/emulator/pools/{_POOL}/nodes/{node}/preempt")
                    self.preempted += 1

    async def begun_again(self) -> Counter[str]:
        """Token of an attempt → how often the service began it again, after a kill or a lost node."""
        counts: Counter[str] = Counter()
        async with self._client() as client:
            async for job in client.listed("/jobs"):
                async for task in client.listed(f"/jobs/{job['id']}/tasks"):
                    counts[str(task["displayName"])] = int(task["executionInfo"]["requeueCount"])
        return counts

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[BatchClient]:
        client = BatchClient(self.url, key_from(ACCOUNT, KEY, "the emulator"))
        try:
            yield client
        finally:
            await client.close()

    async def _live(self, port: int) -> None:
        options: list[Any] = [f"--port={port}", f"--data={self._data / 'emulator'}", *_OPTIONS]
        command = [sys.executable, "-m", "local.azurebatch", *options]
        self._now = await self._life.enter_async_context(child(command, name="azurebatch"))
        self.url = (await self._now.line(r"^ready (\S+)"))[1]
