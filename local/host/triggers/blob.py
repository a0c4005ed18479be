"""The blob trigger: new versions of blobs become messages of one internal queue, and these invocations.

Sources: BlobTriggerExecutor.cs, BlobQueueTriggerExecutor.cs and SharedBlobQueueListenerFactory.cs of the
WebJobs blob extension.
"""

import base64
import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from azure.core.exceptions import AzureError, ResourceExistsError, ResourceNotFoundError
from azure.storage.blob import BlobProperties
from azure.storage.queue import QueueMessage
from azure.storage.queue.aio import QueueClient

from local.host.deletion import Deletion
from local.host.pattern import BlobPattern
from local.host.settings import SettingsError, resolve
from local.host.storage import HOSTS_CONTAINER, queue_key
from local.host.triggers.base import Environment
from local.host.triggers.listener import ListenerOptions, Outcome, QueueListener
from local.host.triggers.receipts import Receipts
from local.host.triggers.scan import Scan
from local.host.worker.contract import Data, Function

_log = logging.getLogger("Host.blob")
_POISON_QUEUE = "webjobs-blobtrigger-poison"
_LARGEST_BATCH = 32
#: What stands before the name of a function in a message.
_FUNCTION = "Host.Functions."


class BlobWork(NamedTuple):
    """The work of a host with blob triggers."""

    listener: QueueListener
    scans: list[Scan]


class BlobTriggers:
    """All blob triggers of an app: the queue between finding and running, and its listener."""

    def __init__(self, functions: Sequence[Function], environment: Environment) -> None:
        self._functions = {f.name: f for f in functions}
        self._patterns = {f.name: pattern_of(f, environment.settings) for f in functions}
        self._environment = environment
        self._queue: QueueClient | None = None

    async def open(self, disabled: frozenset[str]) -> BlobWork:
        """Create the containers and queues that the triggers need."""
        environment = self._environment
        where = "blob triggers"
        queues = await environment.accounts.queues("", where)
        self._queue = queues.get_queue_client(f"azure-webjobs-blobtrigger-{environment.id}")
        hosts = (await environment.accounts.blobs("", where)).get_container_client(HOSTS_CONTAINER)
        with suppress(ResourceExistsError):
            await self._queue.create_queue()
        with suppress(ResourceExistsError):
            await hosts.create_container()
        scans = []
        for name, function in self._functions.items():
            if name in disabled or is_event_grid(function):
                continue
            service = await environment.accounts.blobs(
                function.trigger.get("connection", ""), f"function {name}"
            )
            container = service.get_container_client(self._patterns[name].container)
            receipts = Receipts(hosts, environment.id, name)
            scans.append(Scan(function, self._patterns[name], container, receipts, self.announce))
        deletion = Deletion(self._queue, environment.accounts.http)
        listener = QueueListener(
            self._queue, self._poison_of, deletion, self._options(), self._work, environment.wakeups
        )
        return BlobWork(listener, scans)

    async def announce(self, function: str, container: str, name: str, etag: str) -> None:
        """Put one blob on the queue; for Event Grid's source without a version, so the current one runs."""
        if self._queue is None:
            raise RuntimeError("the blob triggers are not open")
        from_events = is_event_grid(self._functions[function])
        message = {
            "Type": "BlobTrigger",
            "FunctionId": f"{_FUNCTION}{function}",
            "BlobType": "BlockBlob",
            "ContainerName": container,
            "BlobName": name,
            "ETag": None if from_events else etag,
        }
        # As BlobTriggerQueueWriter does with every messageEncoding.
        await self._queue.send_message(base64.b64encode(json.dumps(message, indent=2).encode()).decode())
        self._environment.wakeups.notify(queue_key(self._queue))

    async def receive_event(self, function: str, container: str, name: str) -> bool:
        """Accept a BlobCreated event; False if the function is unknown or its path does not match."""
        pattern = self._patterns.get(function)
        if pattern is None or pattern.container != container or pattern.match(name) is None:
            return False
        await self.announce(function, container, name, "")
        return True

    async def run_now(self, function: str, path: str) -> None:
        """Run a function for a blob `container/name`, of any version; a missing blob runs nothing."""
        container, _, name = path.partition("/")
        await self._invoke(self._functions[function], container, name, None)

    def _options(self) -> ListenerOptions:
        """The configured parallelism, as a batch and a threshold."""
        host = self._environment.host
        parallel = host.blobs.max_degree_of_parallelism
        batch = min(_LARGEST_BATCH, (parallel + 1) // 2)
        return ListenerOptions(
            batch=batch,
            threshold=parallel - batch,
            slowest_poll=host.queues.max_polling_interval.total_seconds(),
            retry_delay=0.0,  # host.json's visibilityTimeout is for queues
            tries=host.blobs.poison_blob_threshold,
            hidden=self._environment.times.hidden,
            outage=self._environment.times.outage,
        )

    async def _work(self, message: QueueMessage) -> Outcome:
        try:
            document = json.loads(base64.b64decode(message.content, validate=True))
            function = self._functions.get(str(document["FunctionId"]).removeprefix(_FUNCTION))
            container, name, etag = document["ContainerName"], document["BlobName"], document["ETag"]
        except (ValueError, KeyError, TypeError):
            return Outcome.HOPELESS
        if function is None:
            return Outcome.DONE  # the app no longer has it
        try:
            return Outcome.DONE if await self._invoke(function, container, name, etag) else Outcome.FAILED
        except AzureError as error:
            _log.warning("blob %s/%s cannot be read: %s", container, name, type(error).__name__)
            return Outcome.FAILED

    async def _poison_of(self, message: QueueMessage) -> QueueClient:
        """In the account of the blob, unlike the queue itself; what names no function stays in the host's."""
        try:
            named = json.loads(base64.b64decode(message.content, validate=True))["FunctionId"]
            function = self._functions[named.removeprefix(_FUNCTION)]
            connection, where = function.trigger.get("connection", ""), f"function {function.name}"
        except (ValueError, KeyError, TypeError, AttributeError):
            connection, where = "", "blob triggers"
        return (await self._environment.accounts.queues(connection, where)).get_queue_client(_POISON_QUEUE)

    async def _invoke(self, function: Function, container: str, name: str, etag: str | None) -> bool:
        where = f"function {function.name}"
        service = await self._environment.accounts.blobs(function.trigger.get("connection", ""), where)
        blob = service.get_blob_client(container, name)
        try:
            download = await blob.download_blob()
            content = await download.readall()
        except ResourceNotFoundError:
            return True  # the blob was deleted: nothing to run
        properties = download.properties
        if etag is not None and properties.etag.strip('"') != etag:
            return True  # overwritten since; the new version has a message of its own
        parameters = self._patterns[function.name].match(name) or {}
        result = await self._environment.invoker.run(
            function,
            {function.trigger["name"]: Data("bytes", content)},
            metadata_of_blob(blob.url, container, name, properties, parameters),
            reason=f"blob {container}/{name}",
        )
        return result.ok


def is_event_grid(function: Function) -> bool:
    """Whether the trigger's source is Event Grid."""
    return str(function.trigger.get("source", "")).lower() == "eventgrid"


def pattern_of(function: Function, settings: Mapping[str, str]) -> BlobPattern:
    """The path of a blob trigger. Raises SettingsError."""
    where = f"function {function.name}"
    try:
        return BlobPattern(resolve(function.trigger["path"], settings, where))
    except ValueError as error:
        raise SettingsError(f"{where}: {error}") from error


def metadata_of_blob(
    url: str, container: str, name: str, properties: BlobProperties, parameters: dict[str, str]
) -> dict[str, Data]:
    """What the function gets beside the content: some properties, by the names of .NET, without ETag."""
    details: dict[str, Any] = {
        "ContentLength": properties.size,
        "ContentType": properties.content_settings.content_type,
        "LastModified": _iso(properties.last_modified),
        "CreatedOn": _iso(properties.creation_time),
    }
    return {name: Data("string", value) for name, value in parameters.items()} | {
        "BlobTrigger": Data("string", f"{container}/{name}"),
        "Uri": Data("string", url.partition("?")[0]),
        "Properties": Data("json", json.dumps(details)),
        "Metadata": Data("json", json.dumps(properties.metadata or {})),
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
