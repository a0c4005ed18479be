"""A real emulator process and a real Azurite, reached by the service's own client."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from azure.core.credentials import AccessToken
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.mgmt.batchai.aio import BatchAI
from azure.storage.blob.aio import BlobServiceClient

from local.azurite import ACCOUNT, KEY, Azurite, azurite
from local.process import Child, child

GROUP, WORKSPACE, EXPERIMENT, CLUSTER = "group", "dev", "digits", "dev-cluster-00"
_PATIENCE = 30.0
_ROOT = Path(__file__).parents[3]


class NoToken:
    """A credential for a server that asks for none."""

    async def get_token(self, *_: str, **__: Any) -> AccessToken:
        return AccessToken("none", 0)

    async def close(self) -> None:
        """Nothing to close."""

    async def __aenter__(self) -> "NoToken":
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing to close."""


@dataclass
class Emulated:
    """A running emulator that can be stopped, killed and started again on the same data."""

    data: Path
    storage: Azurite
    flags: tuple[str, ...]
    stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    process: Child | None = None
    url: str = ""
    client: Any = None

    async def start(self) -> None:
        argv = [sys.executable, "-m", "local.batchai", "--port", "0", "--data", str(self.data)]
        argv += ["--storage-connection-string", self.storage.connection_string]
        argv += ["--provisioning-seconds", "0.1", "--idle-seconds", "0.4", "--leaving-seconds", "0.1", *self.flags]
        env = {"PATH": os.environ["PATH"], "SECRET_OF_THE_EMULATOR": "x"}
        self.process = await self.stack.enter_async_context(
            child(argv, name="emulator", env=env, cwd=_ROOT, on_line=lambda line: print(line))
        )
        self.url = (await self.process.line(r"^ready (http://127\.0\.0\.1:\d+)$"))[1]
        self.client = BatchAI(
            credential=NoToken(),
            subscription_id="sub",
            base_url=self.url,
            authentication_policy=SansIOHTTPPolicy(),
            polling_interval=1,
        )
        await self.stack.enter_async_context(self.client)

    async def stop(self) -> None:
        await self.stack.aclose()

    async def kill(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        await self.stack.aclose()

    async def cluster(self, scale: dict[str, Any], **more: Any) -> str:
        """A workspace, an experiment and a cluster; the id of the cluster."""
        await self.client.workspaces.begin_create(GROUP, WORKSPACE, {"location": "eastus"})
        await self.client.experiments.begin_create(GROUP, WORKSPACE, EXPERIMENT)
        user = {"adminUserName": "demo", "adminUserPassword": "hidden-password"}
        properties = {"vmSize": "Standard_NC6", "userAccountSettings": user, "scaleSettings": scale, **more}
        poller = await self.client.clusters.begin_create(GROUP, WORKSPACE, CLUSTER, {"properties": properties})
        return str((await poller.result()).id)

    async def submit(self, cluster: str, name: str, **properties: Any) -> Any:
        """Create a job whose standard output goes to the container `out`, by default."""
        defaults = {
            "cluster": {"id": cluster},
            "nodeCount": 1,
            "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/out",
            "mountVolumes": {"azureBlobFileSystems": [blob_mount("out", "out")]},
        }
        body = {"properties": {name: value for name, value in (defaults | properties).items() if value is not None}}
        poller = await self.client.jobs.begin_create(GROUP, WORKSPACE, EXPERIMENT, name, body)
        return await poller.result()

    async def job(self, name: str) -> Any:
        return await self.client.jobs.get(GROUP, WORKSPACE, EXPERIMENT, name)

    async def reaches(self, name: str, *states: str) -> Any:
        """The job as soon as it is in one of these states."""

        async def look() -> Any:
            job = await self.job(name)
            return job if job.execution_state in states else None

        return await until(look)

    async def ends(self, name: str) -> Any:
        return await self.reaches(name, "succeeded", "failed")

    async def nodes(self) -> Any:
        return await self.client.clusters.get(GROUP, WORKSPACE, CLUSTER)

    async def files(self, name: str, directory: str = "stdouterr", path: str = ".") -> dict[str, Any]:
        options = {"jobs_list_output_files_options": None}
        del options
        listed = self.client.jobs.list_output_files(
            GROUP,
            WORKSPACE,
            EXPERIMENT,
            name,
            {"outputdirectoryid": directory, "directory": path},
        )
        return {file.name: file async for file in listed}


def blob_mount(container: str, at: str) -> dict[str, Any]:
    return {
        "accountName": ACCOUNT,
        "containerName": container,
        "credentials": {"accountKey": KEY},
        "relativeMountPath": at,
    }


def share_mount(share: str, at: str) -> dict[str, Any]:
    return {
        "accountName": ACCOUNT,
        "azureFileUrl": f"https://{ACCOUNT}.file.core.windows.net/{share}",
        "credentials": {"accountKey": KEY},
        "relativeMountPath": at,
    }


def autoscale(most: int, least: int = 0) -> dict[str, Any]:
    return {"autoScale": {"minimumNodeCount": least, "maximumNodeCount": most}}


async def until(look: Callable[[], Any]) -> Any:
    """What `look` returns as soon as it is true."""
    async with asyncio.timeout(_PATIENCE):
        while not (found := await look()):
            await asyncio.sleep(0.05)
    return found


@pytest.fixture
async def storage() -> AsyncIterator[Azurite]:
    async with azurite() as running:
        yield running


@pytest.fixture
async def blobs(storage: Azurite) -> AsyncIterator[BlobServiceClient]:
    async with BlobServiceClient.from_connection_string(storage.connection_string) as client:
        await client.create_container("out")
        yield client


@pytest.fixture
def flags() -> Iterator[tuple[str, ...]]:
    yield ()


@pytest.fixture
async def emulator(
    tmp_path: Path, storage: Azurite, blobs: BlobServiceClient, flags: tuple[str, ...]
) -> AsyncIterator[Emulated]:
    emulated = Emulated(tmp_path / "batchai", storage, flags)
    await emulated.start()
    yield emulated
    await emulated.stop()
