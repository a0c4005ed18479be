"""The connection to a storage account: by a connection string, or by service addresses with an identity.

Connections are opened at first use and live as long as the process. Tables, queues and lists of blobs use
plain HTTP (`rest`). Other calls for blobs use the SDK with azure-core's retry policy, because the storage
SDK's own neither retries 429 nor heeds Retry-After, and blocks for more than a minute.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from shared.adapters.storage.wire.rest import OTHERS, TABLE, Connections, Rest, Send
from shared.adapters.storage.wire.sign import Identity, SharedKey
from shared.core.errors import EngineError, Misconfigured, Misuse, Unavailable
from shared.core.no_answer import no_answer

if TYPE_CHECKING:
    from azure.storage.blob.aio import BlobServiceClient


#: The names of this machine, on which the storage emulator runs.
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
#: Seconds that a try of the SDK waits for a connection, and for bytes.
_WAITS: dict[str, Any] = {"connection_timeout": 5, "read_timeout": 15}
#: Methods that may be repeated. Our writes may be, since each carries a condition.
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

    def address(self, service: str) -> str:
        """The address of `blob`, `queue` or `table`. Raises Misconfigured."""
        if not self.string:
            return str(getattr(self, service)).rstrip("/")
        members = self.members()
        if endpoint := members.get(f"{service.capitalize()}Endpoint"):
            return endpoint.rstrip("/")
        suffix, scheme = (
            members.get("EndpointSuffix", "core.windows.net"),
            members.get("DefaultEndpointsProtocol"),
        )
        return f"{scheme or 'https'}://{members['AccountName']}.{service}.{suffix}"

    def account(self) -> str:
        """The name of the account; "" if neither the string nor the address of its blobs shows it."""
        if self.string:
            return self.members()["AccountName"]
        url = urlsplit(self.blob)
        name, dot, _ = (url.hostname or "").partition(".blob.")
        return name if dot else url.path.strip("/").partition("/")[0]  # the form of emulators

    def members(self) -> dict[str, str]:
        """The fields of the connection string. Raises Misconfigured."""
        pairs = (part.partition("=") for part in self.string.split(";") if part.strip())
        members = {name.strip(): value.strip() for name, _, value in pairs}
        if not members.get("AccountName") or not members.get("AccountKey"):
            raise Misconfigured("the storage connection string must name AccountName and AccountKey")
        return members


class Account:
    """The services of one account."""

    def __init__(
        self,
        connection: Connection,
        transport: Callable[[], Any] | None = None,
        *,
        around: Callable[[Send], Send] = lambda send: send,
        backoff: float = 0.4,
    ) -> None:
        """`transport` makes the SDK's HTTP transport and `around` wraps ours: tests put faults there.

        `backoff` in seconds.
        """
        self._backoff = backoff
        self._connection = connection
        self._transport = transport
        self._connections = Connections()
        self._send = around(self._connections.send)
        self._signer = self._who()
        self._blobs: BlobServiceClient | None = None

    @property
    def blobs(self) -> BlobServiceClient:
        """The client of the blob service, made at the first use."""
        if self._blobs is None:
            self._blobs = self._blob_client()
        return self._blobs

    @property
    def lists(self) -> Rest:
        """The client for lists of the blob service, made at the first use."""
        return self._rest("blob", OTHERS)

    @property
    def queues(self) -> Rest:
        """The client of the queue service, made at the first use."""
        return self._rest("queue", OTHERS)

    @property
    def tables(self) -> Rest:
        """The client of the table service, made at the first use."""
        return self._rest("table", TABLE)

    async def close(self) -> None:
        """Close the connections to all services."""
        await self._connections.close()
        await self._signer.close()
        if self._blobs is not None:
            await self._blobs.close()
            self._blobs = None

    def _rest(self, service: str, version: str) -> Rest:
        base = self._connection.address(service)
        return Rest(base, self._signer, self._send, version=version, backoff=self._backoff)

    def _who(self) -> SharedKey | Identity:
        if self._connection.string:
            members = self._connection.members()
            return SharedKey(members["AccountName"], members["AccountKey"])
        return Identity(self._connection.client_id)

    def _blob_client(self) -> BlobServiceClient:
        from azure.storage.blob.aio import BlobServiceClient

        from shared.connections.transport import Transport

        # A proxy from the environment cannot reach this machine.
        remote = urlsplit(self._connection.address("blob")).hostname not in _LOOPBACK
        options = _options(self._backoff)
        transport = self._transport() if self._transport else Transport(use_env_settings=remote, **_WAITS)
        if isinstance(self._signer, Identity):
            return BlobServiceClient(
                self._connection.blob, self._signer.credential(), transport=transport, **options
            )
        return BlobServiceClient.from_connection_string(
            self._connection.string, transport=transport, **options
        )


def _options(backoff: float) -> dict[str, Any]:
    from azure.core.pipeline.policies import AsyncRetryPolicy

    class Retry(AsyncRetryPolicy[Any, Any]):
        async def send(self, request: Any) -> Any:
            # The storage pipelines leave these to their own retry policy, and expect them on the answer.
            options = request.context.options
            mode = options.pop("location_mode", "primary")
            for name in ("hosts", "retry_to_secondary", "retry_hook"):
                options.pop(name, None)
            options["retry_on_methods"] = REPEATED
            response = await super().send(request)
            response.http_response.location_mode = mode
            return response

    policy = Retry(retry_total=4, retry_backoff_factor=backoff, retry_backoff_max=10)
    return {"retry_policy": policy, **_WAITS}


@asynccontextmanager
async def storage_errors() -> AsyncIterator[None]:
    """Translate errors of the blob SDK into ours.

    A caller catches the errors that it expects inside this block.
    """
    from azure.core.exceptions import AzureError, HttpResponseError

    try:
        yield
    except EngineError as error:  # there is no token
        raise Unavailable(str(error)) from error
    except HttpResponseError as error:
        if error.status_code == 413:
            raise Misuse("this is larger than storage accepts", status=413, remedy="shorten it") from error
        code = getattr(error, "error_code", None) or error.reason or ""
        raise Unavailable(f"storage answered {error.status_code} {code}".strip()) from error
    except AzureError as error:
        raise Unavailable(f"storage did not answer: {no_answer(error)}") from error
