"""A real emulator process and a real Azurite, reached by the service's own client.

Azurite and one emulator serve all tests of a run; each test has a workspace of its own. Tests that stop or
kill an emulator start another one.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from azure.core.credentials import AccessToken
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.mgmt.batchai.aio import BatchAI
from azure.mgmt.batchai.models import JobsListOutputFilesOptions
from azure.storage.blob.aio import BlobServiceClient
from multidict import CIMultiDict

from local.azurite import ACCOUNT, KEY, Azurite, azurite
from local.process import Child, child
from tests.contract.emulator.recorder import Recorder
from tests.contract.emulator.swagger import contract

GROUP, EXPERIMENT, CLUSTER = "group", "digits", "dev-cluster-00"
_PATIENCE = 120.0
_ROOT = Path(__file__).parents[3]
#: Stand-ins for programs that jobs call.
_PROGRAMS = Path(__file__).with_name("programs")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run every asynchronous test of this folder in the loop of the shared processes."""
    folder = f"{Path(__file__).parent}{os.sep}"
    for item in items:  # ten thousand, mostly elsewhere
        if str(item.path).startswith(folder) and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


class NoToken:
    """A credential for a server that requires none."""

    async def get_token(self, *_: str, **__: Any) -> AccessToken:
        return AccessToken("none", 0)


@dataclass
class Emulator:
    """An emulator process that can be stopped, killed and started again on the same data."""

    data: Path
    storage: Azurite
    recorder: Recorder
    flags: tuple[str, ...] = ("--containers", "host")
    env: Mapping[str, str] = field(default_factory=dict)
    #: Where nodes find programs; jobs of most tests need no Python of their own.
    node_path: tuple[Path, ...] = (Path(sys.executable).parent, _PROGRAMS)
    url: str = ""
    #: The emulator itself, behind the recorder.
    upstream: str = ""
    client: Any = None
    process: Child | None = None
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def program(self) -> tuple[str, ...]:
        """The start of the command that runs the module."""
        return (sys.executable,)

    async def start(self) -> None:
        argv = [
            *self.program,
            "-m",
            "local.batchai",
            "--port",
            "0",
            "--data",
            str(self.data),
            "--until-stdin-closes",
        ]
        argv += ["--storage-connection-string", self.storage.connection_string]
        argv += ["--provisioning-seconds", "0.1", "--idle-seconds", "0.3", "--leaving-seconds", "0.1"]
        argv += ["--grace-seconds", "2"]
        for directory in self.node_path:
            argv += ["--node-path", str(directory)]
        env = {"PATH": os.environ["PATH"], "OF_THE_EMULATOR": "not for jobs", **self.env}
        self.process = await self._stack.enter_async_context(
            child([*argv, *self.flags], name="emulator", env=env, cwd=_ROOT)
        )
        self.upstream = (await self.process.line(r"^ready (http://127\.0\.0\.1:\d+)$"))[1]
        self.url = await self._stack.enter_async_context(self.recorder.before(self.upstream))
        self.client = BatchAI(
            credential=NoToken(),  # type: ignore[arg-type]  # only its token is asked for
            subscription_id="sub",
            base_url=self.url,
            authentication_policy=SansIOHTTPPolicy(),
            polling_interval=1,
        )
        self._stack.push_async_callback(self.client.close)
        await self.make_group(GROUP)

    async def make_group(self, name: str) -> None:
        """Create a resource group, if it does not exist."""
        address = f"{self.url}/subscriptions/sub/resourceGroups/{name}"
        body = {"location": "eastus"}
        async with aiohttp.ClientSession() as session, session.put(address, json=body) as answer:
            assert answer.status in (200, 201)

    async def stop(self) -> None:
        await self._stack.aclose()

    async def kill(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        await self.process.wait()
        await self.stop()


@dataclass(frozen=True)
class Lab:
    """One test's workspace."""

    emulator: Emulator
    workspace: str

    @property
    def client(self) -> Any:
        return self.emulator.client

    @property
    def place(self) -> tuple[str, str, str]:
        return GROUP, self.workspace, EXPERIMENT

    @property
    def path(self) -> str:
        group = f"/subscriptions/sub/resourceGroups/{GROUP}"
        return f"{group}/providers/Microsoft.BatchAI/workspaces/{self.workspace}"

    async def prepare(self) -> None:
        """Create the workspace and the experiment."""
        await self.client.workspaces.begin_create(GROUP, self.workspace, {"location": "eastus"})
        await self.client.experiments.begin_create(*self.place)

    async def make_cluster(self, scale: dict[str, Any] | None = None, **more: Any) -> str:
        """Create a cluster, by default with up to two nodes, and return its id."""
        await self.prepare()
        body = cluster_body(scale or autoscale(2), **more)
        poller = await self.client.clusters.begin_create(GROUP, self.workspace, CLUSTER, body)
        return str((await poller.result()).id)

    async def cluster(self) -> Any:
        return await self.client.clusters.get(GROUP, self.workspace, CLUSTER)

    async def submit(self, name: str, **properties: Any) -> Any:
        """Create a job; by default its standard output goes to the container `out`."""
        poller = await self.client.jobs.begin_create(*self.place, name, self.job_body(**properties))
        return await poller.result()

    def job_body(self, **properties: Any) -> dict[str, Any]:
        defaults = {
            "cluster": {"id": f"{self.path}/clusters/{CLUSTER}"},
            "nodeCount": 1,
            "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/out",
            "mountVolumes": {"azureBlobFileSystems": [blob_mount("out", "out")]},
        }
        return {"properties": defaults | properties}

    async def job(self, name: str) -> Any:
        return await self.client.jobs.get(*self.place, name)

    async def reaches(self, name: str, *states: str) -> Any:
        """Wait until the job is in one of these states, and return it."""

        async def check() -> Any:
            job = await self.job(name)
            return job if job.execution_state in states else None

        return await until(check)

    async def ends(self, name: str) -> Any:
        return await self.reaches(name, "succeeded", "failed")

    async def files(self, name: str, directory: str = "stdouterr", path: str = ".") -> dict[str, Any]:
        options = JobsListOutputFilesOptions(outputdirectoryid=directory, directory=path)
        listed = self.client.jobs.list_output_files(*self.place, name, options)
        return {file.name: file async for file in listed}

    async def read(self, name: str, file: str, directory: str = "stdouterr") -> str:
        """The text of an output file, through its address."""
        entry = (await self.files(name, directory))[file]
        async with aiohttp.ClientSession() as session, session.get(entry.download_url) as answer:
            assert answer.status == 200
            return await answer.text()

    async def send(self, method: str, path: str, **options: Any) -> tuple[int, Any, Mapping[str, str]]:
        """A plain request: status, JSON body, headers."""
        params = {"api-version": "2018-05-01"} | options.pop("params", {})
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, self.emulator.url + path, params=params, **options) as answer,
        ):
            text = await answer.read()
            body = await answer.json() if text else None
            return answer.status, body, CIMultiDict(answer.headers, reason=answer.reason or "")


def cluster_body(scale: dict[str, Any], **more: Any) -> dict[str, Any]:
    user = {"adminUserName": "demo", "adminUserPassword": "hidden-password"}
    return {
        "properties": {"vmSize": "Standard_NC6", "userAccountSettings": user, "scaleSettings": scale} | more
    }


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


def custom(command: str) -> dict[str, Any]:
    return {"customToolkitSettings": {"commandLine": command}}


async def until(check: Callable[[], Awaitable[Any]]) -> Any:
    """Wait for another process until `check` returns something true, and return that."""
    async with asyncio.timeout(_PATIENCE):
        while True:
            if result := await check():
                return result
            await asyncio.sleep(0.05)


def alive(pid: str) -> bool:
    """Whether a process with this id exists."""
    return Path(f"/proc/{pid.strip()}").exists()


@pytest.fixture(scope="package")
def recorder() -> Recorder:
    return Recorder(contract())


@pytest.fixture(autouse=True)
def _exchanges_keep_to_the_contract(recorder: Recorder) -> Iterator[None]:
    """Every answer of the emulator, and every request that it accepts, conforms to the contract."""
    yield
    assert recorder.drain() == []


@pytest_asyncio.fixture(loop_scope="session", scope="package")
async def storage() -> AsyncIterator[Azurite]:
    async with azurite() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session", scope="package")
async def blobs(storage: Azurite) -> AsyncIterator[BlobServiceClient]:
    async with BlobServiceClient.from_connection_string(storage.connection_string) as client:
        await client.create_container("out")
        yield client


@pytest_asyncio.fixture(loop_scope="session", scope="package")
async def emulator(
    tmp_path_factory: pytest.TempPathFactory, storage: Azurite, blobs: BlobServiceClient, recorder: Recorder
) -> AsyncIterator[Emulator]:
    running = Emulator(tmp_path_factory.mktemp("batchai"), storage, recorder)
    await running.start()
    yield running
    await running.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def own_emulator(
    tmp_path: Path, storage: Azurite, blobs: BlobServiceClient, recorder: Recorder
) -> AsyncIterator[Emulator]:
    """An emulator that the test may stop and kill."""
    running = Emulator(tmp_path / "batchai", storage, recorder)
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
def lab(emulator: Emulator, request: pytest.FixtureRequest) -> Lab:
    return Lab(emulator, f"w{abs(hash(request.node.nodeid))}")


@pytest.fixture
def own_lab(own_emulator: Emulator) -> Lab:
    return Lab(own_emulator, "dev")
