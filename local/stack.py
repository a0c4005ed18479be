"""The local stack as child processes: Azurite, a cluster, a webhook receiver, the local host."""

import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from local.azurite import Azurite, azurite
from local.border import reach_this_machine
from local.clusters.kind import ENDS, SCRIPTS, ClusterOptions, Running
from local.clusters.registry import CLUSTERS, USUAL
from local.event_grid.topic import Delivery, Topic
from local.kept_secrets import kept_secrets, write_private
from local.private_folder import private_folder
from local.process import Child, child

ROOT = Path(__file__).resolve().parents[1]

#: Variables of the person's shell that may belong to a real deployment; the local app must not see them.
_NOT_INHERITED = ("SLIPWAY_", "AZURE_", "AZUREWEBJOBS", "FUNCTIONS_")
_KEY_VARIABLE = "SLIPWAY_LOCAL_WEBHOOK_SECRET"
_DELIVERIES = "deliveries.jsonl"
#: A stack that was killed makes passes again once storage lets it, and leaves no process: a person waits.
_TIMES = {"TIMER_LEASE": "15", "TIMER_RETRY": "2", "ORPHAN": "0"}
_PATIENCE = 60.0  # seconds until a child says that it is ready


@dataclass(frozen=True, kw_only=True)
class Ports:
    """Where the stack listens on the loopback interface; 0 is any free port."""

    azurite: tuple[int, int, int] | None = None
    #: of the cluster's API
    emulator: int = 0
    receiver: int = 0
    host: int = 0


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to start the stack. `data` keeps its state, its log files and its secrets."""

    data: Path
    ports: Ports = field(default_factory=Ports)
    #: Forget all storage when the stack ends.
    in_memory: bool = False
    #: App settings that replace those of `app_settings`.
    overrides: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: Run jobs on this local cluster; None where `overrides` name clusters that are there.
    cluster: str | None = USUAL
    #: The maximum of nodes of a cluster that is complete when it starts; for others, provisioning sets it.
    nodes: int = 2
    #: Options of the cluster's program.
    cluster_arguments: tuple[str, ...] = ()
    host_arguments: tuple[str, ...] = ()
    #: Names of this machine besides the loopback ones, such as that of a forwarded port.
    allowed_hosts: tuple[str, ...] = ()
    #: The folder of the function app; None where another host runs it, by the settings that are written.
    app: Path | None = ROOT
    #: Gets each line of the storage's access log.
    on_request: Callable[[str], None] | None = None
    #: How events of dropped blobs arrive.
    delivery: Delivery = field(default_factory=Delivery)
    #: Use this storage instead of one in `data` or in memory. It raises no events: let the host scan.
    storage: AbstractAsyncContextManager[Azurite] | None = None


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A running stack: its addresses, the settings of its app, and where its processes write."""

    storage: Azurite = field(repr=False)
    #: None where jobs run on clusters that were there
    cluster: Running | None
    receiver_url: str
    host_url: str
    settings: Mapping[str, str] = field(repr=False)
    #: The webhook secret, for a receiver of one's own.
    secret: str = field(repr=False)
    #: One JSON line for each delivery that the receiver has seen.
    deliveries: Path
    logs: Path
    #: The processes, to be watched: none ends before the stack does.
    processes: tuple[Child, ...] = field(repr=False)


#: Creates the resources that the app's settings name; runs before the host starts.
Provision = Callable[[Mapping[str, str]], Awaitable[None]]


@asynccontextmanager
async def stack(options: Options, provision: Provision) -> AsyncIterator[Stack]:
    """Run the stack for the length of the block, and stop it in the opposite order.

    Raises StartError, with the remedy, when a process does not start.
    """
    reach_this_machine(os.environ)
    data = options.data.resolve()
    logs = data / "logs"
    private_folder(data, "secrets.json")
    logs.mkdir(mode=0o700, exist_ok=True)
    keys = kept_secrets(data / "secrets.json")
    topic = Topic(options.delivery)
    async with AsyncExitStack() as running:
        storage = await running.enter_async_context(options.storage or _storage(options, data, topic))
        starter = _Starter(running, logs, options.allowed_hosts)
        cluster = await _cluster(options, data, storage, starter, running)
        receiver_url = await _receiver(options, data, keys["webhook"], starter)
        settings = {
            **app_settings(receiver_url=receiver_url, webhook_secret=keys["webhook"], seal_key=keys["seal"]),
            **_where_jobs_run(storage, cluster),
            **options.overrides,
        }
        await provision(settings)
        if cluster:
            await running.enter_async_context(cluster.serving())
        containers = (settings.get("SLIPWAY_DROP_CONTAINER", SCRIPTS), ENDS)
        await running.enter_async_context(topic.delivering(storage.connection_string, containers))
        host_url = await _host(options, data, settings, starter)
        yield Stack(
            storage=storage,
            cluster=cluster,
            receiver_url=receiver_url,
            host_url=host_url,
            settings=settings,
            secret=keys["webhook"],
            deliveries=data / _DELIVERIES,
            logs=logs,
            processes=(storage.process, *starter.started, *(cluster.processes if cluster else ())),
        )


def _storage(options: Options, data: Path, topic: Topic) -> AbstractAsyncContextManager[Azurite]:
    return azurite(
        None if options.in_memory else data / "azurite",
        ports=options.ports.azurite,
        on_request=options.on_request,
        on_write=topic.take,
        allowed_hosts=options.allowed_hosts,
    )


async def _cluster(
    options: Options, data: Path, storage: Azurite, starter: "_Starter", running: AsyncExitStack
) -> Running | None:
    if options.cluster is None:
        return None
    cluster_options = ClusterOptions(
        data=data,
        port=options.ports.emulator,
        nodes=options.nodes,
        storage=storage,
        arguments=options.cluster_arguments,
        launch=starter.start,
    )
    return await running.enter_async_context(CLUSTERS[options.cluster].start(cluster_options))


async def _receiver(options: Options, data: Path, secret: str, starter: "_Starter") -> str:
    return await starter.start(
        "receiver",
        "local.receiver",
        f"--port={options.ports.receiver}",
        f"--secret-env={_KEY_VARIABLE}",
        f"--log={data / _DELIVERIES}",
        extra={_KEY_VARIABLE: secret},
    )


async def _host(options: Options, data: Path, settings: Mapping[str, str], starter: "_Starter") -> str:
    file = data / "local.settings.json"
    write_private(file, {"IsEncrypted": False, "Values": dict(settings)})
    if options.app is None:
        return f"http://127.0.0.1:{options.ports.host}"
    return await starter.start(
        "host",
        "local.host",
        f"--app={options.app}",
        f"--settings={file}",
        f"--port={options.ports.host}",
        *("--grace=5", *options.host_arguments),
    )


def _where_jobs_run(storage: Azurite, cluster: Running | None) -> dict[str, str]:
    """The settings that differ between the clusters, the connection string included."""
    string = cluster.connection_string if cluster else storage.connection_string
    settings = cluster.settings if cluster else {}
    return {"AzureWebJobsStorage": string, "SLIPWAY_STORAGE": string, **settings}


def app_settings(*, receiver_url: str, webhook_secret: str, seal_key: str) -> dict[str, str]:
    """The settings that every local stack has; all others keep their defaults."""
    port = receiver_url.rstrip("/").rpartition(":")[2]
    notify = [{"url": f"{receiver_url}/hooks/default", "secret": "default"}]
    return {
        "FUNCTIONS_WORKER_RUNTIME": "python",
        **{f"LOCAL_HOST_{time}_SECONDS": seconds for time, seconds in _TIMES.items()},
        "SLIPWAY_SWEEPER_SCHEDULE": "* * * * * *",
        "SLIPWAY_INVENTORY_SECONDS": "30",
        "SLIPWAY_SETTLE_SECONDS": "1",
        "SLIPWAY_SOURCE": "urn:slipway:local",
        "SLIPWAY_RECEIPTS": "all",
        "SLIPWAY_SEAL_KEY": seal_key,
        "SLIPWAY_WEBHOOK_LOOPBACK": "true",
        "SLIPWAY_WEBHOOK_PORTS": f"443,{port}",
        "SLIPWAY_WEBHOOK_SECRETS": json.dumps({"default": webhook_secret}),
        "SLIPWAY_DEFAULT_NOTIFY": json.dumps(notify),
    }


class _Starter:
    """Starts our own modules as children, each with a log file."""

    def __init__(self, running: AsyncExitStack, logs: Path, allowed_hosts: Sequence[str]) -> None:
        self._running = running
        self._logs = logs
        self._common = ["--until-stdin-closes", *(f"--allow-host={name}" for name in allowed_hosts)]
        self.started: list[Child] = []

    async def start(
        self, name: str, module: str, *arguments: str, extra: Mapping[str, str] | None = None
    ) -> str:
        """The URL that the child names in its line `ready URL`. Raises ProcessError."""
        log = self._running.enter_context((self._logs / f"{name}.log").open("a", encoding="utf-8"))

        def write(line: str) -> None:
            log.write(line + "\n")
            log.flush()

        inherited = {key: value for key, value in os.environ.items() if not _is_foreign(key)}
        process: Child = await self._running.enter_async_context(
            child(
                [sys.executable, "-m", module, *self._common, *arguments],
                name=f"the {name}",
                env=inherited | {"PYTHONUNBUFFERED": "1"} | dict(extra or {}),
                cwd=ROOT,
                on_line=write,
            )
        )
        self.started.append(process)
        ready = await process.line(r"^ready (http://\S+)", seconds=_PATIENCE)
        return ready[1].rstrip("/")


def _is_foreign(name: str) -> bool:
    return name.upper().startswith(_NOT_INHERITED)
