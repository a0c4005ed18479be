"""One way to reach a storage account: a connection string, or service addresses with an identity.

Clients are made at first use and live as long as the process. The retry policy is azure-core's: the storage
SDK's own neither retries 429 nor heeds Retry-After, and blocks for more than a minute.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.errors import Misuse, Unavailable

if TYPE_CHECKING:
    from azure.data.tables.aio import TableServiceClient
    from azure.storage.blob.aio import BlobServiceClient
    from azure.storage.queue.aio import QueueServiceClient


#: Every write of ours may be repeated: transactions carry tokens, and a message sent twice wakes up twice.
REPEATED = frozenset({"HEAD", "GET", "PUT", "DELETE", "POST", "PATCH", "MERGE"})


@dataclass(frozen=True)
class Connection:
    """Where the account is. Either `string`, or the three addresses and (optionally) a client id."""

    string: str = ""
    blob: str = ""
    queue: str = ""
    table: str = ""
    client_id: str = ""

    def __repr__(self) -> str:
        return f"Connection({self.blob or 'by connection string'})"


class Account:
    """The service clients of one account."""

    def __init__(
        self, connection: Connection, transport: Callable[[], Any] | None = None, *, backoff: float = 0.4
    ) -> None:
        """`transport` makes the clients' HTTP transport: tests put faults there. `backoff` in seconds."""
        self._backoff = backoff
        self._connection = connection
        self._transport = transport
        self._open: dict[str, Any] = {}

    @property
    def blobs(self) -> BlobServiceClient:
        """The blob service."""
        if "blobs" not in self._open:
            from azure.storage.blob.aio import BlobServiceClient

            self._open["blobs"] = self._client(BlobServiceClient, self._connection.blob)
        client: BlobServiceClient = self._open["blobs"]
        return client

    @property
    def queues(self) -> QueueServiceClient:
        """The queue service."""
        if "queues" not in self._open:
            from azure.storage.queue.aio import QueueServiceClient

            self._open["queues"] = self._client(QueueServiceClient, self._connection.queue)
        client: QueueServiceClient = self._open["queues"]
        return client

    @property
    def tables(self) -> TableServiceClient:
        """The table service."""
        if "tables" not in self._open:
            from azure.data.tables.aio import TableServiceClient

            self._open["tables"] = self._client(TableServiceClient, self._connection.table, "endpoint")
        client: TableServiceClient = self._open["tables"]
        return client

    async def close(self) -> None:
        """Close every connection."""
        for client in self._open.values():
            await client.close()
        self._open.clear()

    def _client(self, kind: Any, address: str, name: str = "account_url") -> Any:
        options = _options(self._backoff)
        if self._transport is not None:
            options["transport"] = self._transport()
        if self._connection.string:
            return kind.from_connection_string(self._connection.string, **options)
        return kind(**{name: address}, credential=self._credential(), **options)

    def _credential(self) -> Any:
        if "credential" not in self._open:
            from azure.identity.aio import DefaultAzureCredential

            # A user-assigned identity must be named, or the system-assigned one is tried and fails.
            client_id = self._connection.client_id or None
            self._open["credential"] = DefaultAzureCredential(managed_identity_client_id=client_id)
        return self._open["credential"]


def _options(backoff: float) -> dict[str, Any]:
    from azure.core.pipeline.policies import AsyncRetryPolicy

    class Retry(AsyncRetryPolicy[Any, Any]):
        async def send(self, request: Any) -> Any:
            # What the storage pipelines leave to their own retry policy to take, and expect on the answer.
            options = request.context.options
            mode = options.pop("location_mode", "primary")
            for name in ("hosts", "retry_to_secondary", "retry_hook"):
                options.pop(name, None)
            options["retry_on_methods"] = REPEATED
            response = await super().send(request)
            response.http_response.location_mode = mode
            return response

    # The table client takes the numbers for a policy of its own, the others take the policy.
    numbers = {"retry_total": 4, "retry_backoff_factor": backoff, "retry_backoff_max": 10}
    return {"retry_policy": Retry(**numbers), **numbers, "connection_timeout": 5, "read_timeout": 15}


@asynccontextmanager
async def storage_errors() -> AsyncIterator[None]:
    """The one border that errors of the storage SDK cross. What a caller expects, it catches inside."""
    from azure.core.exceptions import AzureError, HttpResponseError

    try:
        yield
    except HttpResponseError as error:
        if error.status_code == 413:
            raise Misuse("this is larger than storage takes", status=413, remedy="shorten it") from error
        code = getattr(error, "error_code", None) or error.reason or ""
        raise Unavailable(f"storage answered {error.status_code} {code}".strip()) from error
    except AzureError as error:
        raise Unavailable(f"storage did not answer: {type(error).__name__}") from error
