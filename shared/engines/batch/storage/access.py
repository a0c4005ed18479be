"""A cluster's container, reached by an identity, or at an emulator by its well-known key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from shared.core.errors import Busy, EngineError, Misconfigured, Transient
from shared.core.no_answer import no_answer
from shared.engines.batch.cluster import BatchCluster
from shared.login import Login

if TYPE_CHECKING:
    from azure.storage.blob.aio import ContainerClient

_THROTTLED = (429, 500, 503)
_SCOPE = "https://storage.azure.com/.default"


@dataclass(frozen=True)
class SharedKey:
    """The key of an emulator's account."""

    account: str
    secret: str = field(repr=False)


class Access:
    """The container of one cluster. `key` is for emulators; without it, the identity is used."""

    def __init__(self, cluster: BatchCluster, client_id: str = "", key: SharedKey | None = None) -> None:
        self._cluster, self._client_id, self._key = cluster, client_id, key
        self._client: ContainerClient | None = None
        self._login: Login | None = None

    @property
    def container(self) -> ContainerClient:
        """The client, made at the first use."""
        if self._client is None:
            from azure.storage.blob.aio import ContainerClient

            from shared.connections.transport import Transport

            # One quick retry: a pass is waiting, and will look again itself.
            options: dict[str, Any] = {"retry_total": 1, "initial_backoff": 0, "increment_base": 1}
            options["random_jitter_range"] = 0
            transport = Transport(
                service="the container of `blobs`",
                connection_timeout=5,
                read_timeout=15,
                use_env_settings=not self._cluster.is_emulated,  # a proxy cannot reach this machine
            )
            self._client = ContainerClient.from_container_url(
                self._cluster.blobs, credential=self._signer(), transport=transport, **options
            )
        return self._client

    def signature(self, until: datetime) -> str:
        """A signature for nodes of an emulator, never shown; "" elsewhere, where nodes have an identity."""
        if not self._cluster.is_emulated or self._key is None:
            return ""
        from azure.storage.blob import ContainerSasPermissions, generate_container_sas

        name = self._cluster.blobs.rstrip("/").rpartition("/")[2]
        return generate_container_sas(
            self._key.account,
            name,
            self._key.secret,
            permission=ContainerSasPermissions(
                read=True, write=True, create=True, add=True, delete=True, list=True
            ),
            expiry=until,
        )

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None
        if self._login is not None:
            await self._login.close()
            self._login = None

    def _signer(self) -> Any:
        if self._cluster.is_emulated:
            if self._key is None:
                raise Misconfigured("a container of an emulator needs AzureWebJobsStorage with its key")
            return {"account_name": self._key.account, "account_key": self._key.secret}
        self._login = Login("Azure Storage", _SCOPE, self._client_id)
        return self._login.credential()


@asynccontextmanager
async def blob_errors(what: str) -> AsyncIterator[None]:
    """Translate errors of the SDK. Expected ones are caught inside this context."""
    from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError

    try:
        yield
    except ClientAuthenticationError as error:
        raise _refused(what) from error
    except HttpResponseError as error:
        raise _meaning(what, error.status_code, str(getattr(error, "error_code", "") or "")) from error
    except AzureError as error:
        raise Transient(f"{what} cannot be read: {no_answer(error)}") from error


def _meaning(what: str, status: int | None, code: str) -> EngineError:
    if status in (401, 403):
        return _refused(what)
    if code == "ContainerNotFound":
        return Misconfigured(f"{what} cannot be read: the container of `blobs` does not exist; create it")
    if status in _THROTTLED:
        return Busy(f"{what} cannot be read: {status} {code}".rstrip())
    return Transient(f"{what} cannot be read: {status} {code}".rstrip())


def _refused(what: str) -> Misconfigured:
    text = "the container of `blobs` refuses the app's identity"
    return Misconfigured(
        f"{what} cannot be read: {text}; give it the role Storage Blob Data Contributor there"
    )
