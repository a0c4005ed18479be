"""The storage accounts that a host uses: one asynchronous client for each account and service."""

import hashlib
import re
import socket
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from azure.storage.blob.aio import BlobServiceClient
from azure.storage.queue.aio import QueueClient, QueueServiceClient

from local.host.deletion import http_client
from local.host.settings import SettingsError, connection_string

#: Containers and queues that the host itself uses, named as in Azure.
HOSTS_CONTAINER = "azure-webjobs-hosts"
#: With settings of the environment, aiohttp would look for a proxy, and on a thread for .netrc, at every
#: request: half of its processor time. A proxy of the environment must not stand before Azurite either.
_TRANSPORT: dict[str, Any] = {"connection_timeout": 10, "read_timeout": 60, "use_env_settings": False}
#: The library would wait 15 s before its first retry. The listeners have retries of their own.
_CLIENT: dict[str, Any] = _TRANSPORT | {
    "retry_total": 2,
    "initial_backoff": 0.2,
    "increment_base": 1,
    "random_jitter_range": 0,
}


class Accounts:
    """Clients by connection name; closed by `close`."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = settings
        self._stack = AsyncExitStack()
        self._blobs: dict[str, BlobServiceClient] = {}
        self._queues: dict[str, QueueServiceClient] = {}
        #: For deleting messages, see Deletion.
        self.http = http_client(**_TRANSPORT)
        self._stack.push_async_callback(self.http.close)

    async def blobs(self, connection: str, where: str) -> BlobServiceClient:
        """The blob service behind a binding's connection; raises SettingsError, naming `where`."""
        text = connection_string(connection, self._settings, where)
        if text not in self._blobs:
            try:
                client = BlobServiceClient.from_connection_string(text, **_CLIENT)
            except ValueError:
                raise _malformed(connection, where) from None  # the library's message may show the key
            self._blobs[text] = await self._stack.enter_async_context(client)
        return self._blobs[text]

    async def queues(self, connection: str, where: str) -> QueueServiceClient:
        """The queue service behind a binding's connection; raises SettingsError, naming `where`."""
        text = connection_string(connection, self._settings, where)
        if text not in self._queues:
            try:
                client = QueueServiceClient.from_connection_string(text, **_CLIENT)
            except ValueError:
                raise _malformed(connection, where) from None  # the library's message may show the key
            self._queues[text] = await self._stack.enter_async_context(client)
        return self._queues[text]

    async def close(self) -> None:
        """Close the connections to every account."""
        await self._stack.aclose()


def queue_key(queue: QueueClient) -> str:
    """A name for a queue that is the same for every client of it: account address and queue."""
    return f"{queue.scheme}://{queue.primary_hostname}/{queue.queue_name}"


def host_id(app: Path, settings: Mapping[str, str]) -> str:
    """The id under which locks, receipts and timers are kept: set, or made of machine and folder."""
    if chosen := settings.get("AzureFunctionsWebHost__hostid"):
        return chosen.lower()
    machine = re.sub(r"[^a-z0-9]+", "", socket.gethostname().lower())[:16] or "host"
    return f"{machine}-{hashlib.sha256(str(app).encode()).hexdigest()[:12]}"


def _malformed(connection: str, where: str) -> SettingsError:
    return SettingsError(
        f"{where}: the setting {connection or 'AzureWebJobsStorage'} is not a connection string"
    )
