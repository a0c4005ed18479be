"""Who we are to the storage: a shared key that signs each request, or a token of an identity.

Shared Key: learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from shared.core.errors import Unavailable

log = logging.getLogger(__name__)

#: A token is asked for anew when it is this close to its end, in seconds.
_MARGIN = 300
#: Seconds until that is tried again while the old one is still valid.
_PAUSE = 20
_SCOPE = "https://storage.azure.com/.default"


class Signer(Protocol):
    """Adds the Authorization header of a request that is sent once."""

    async def authorization(
        self, verb: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], *, table: bool
    ) -> str:
        """The header's value. `path` is encoded as in the address; `query` is decoded."""

    async def close(self) -> None:
        """Close the connections that tokens come through."""


class SharedKey:
    """Signs with the key of an account."""

    def __init__(self, account: str, key: str) -> None:
        self._account = account
        self._key = base64.b64decode(key)

    async def authorization(
        self, verb: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], *, table: bool
    ) -> str:
        """HMAC-SHA256 over what the service sees of the request."""
        lower = {name.lower(): value for name, value in headers.items()}
        resource = f"/{self._account}{path}"
        if table:
            comp = f"?comp={query['comp']}" if "comp" in query else ""
            lines = [
                verb,
                "",
                lower.get("content-type", ""),
                lower["x-ms-date"],
                resource + comp,
            ]
        else:
            lines = [verb, *(lower.get(name, "") for name in _SIGNED)]
            lines += [f"{name}:{lower[name]}" for name in sorted(lower) if name.startswith("x-ms-")]
            lines += [resource, *(f"{name.lower()}:{query[name]}" for name in sorted(query))]
        digest = hmac.new(self._key, "\n".join(lines).encode(), hashlib.sha256).digest()
        return f"SharedKey {self._account}:{base64.b64encode(digest).decode()}"

    async def close(self) -> None:
        """A key needs no connection."""


_SIGNED = (
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
)


class Identity:
    """A managed identity, or another credential of azure-identity; its token is kept while it is valid."""

    def __init__(
        self, client_id: str, credential: Any = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._client_id = client_id
        self._credential = credential
        self._clock = clock
        self._token = ""
        self._until = self._renew_at = 0.0
        self._asking = asyncio.Lock()

    async def authorization(
        self, verb: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], *, table: bool
    ) -> str:
        """A bearer token. Raises Unavailable when there is none."""
        async with self._asking:
            if self._clock() >= self._renew_at:
                await self._renew()
        return f"Bearer {self._token}"

    async def _renew(self) -> None:
        from azure.core.exceptions import AzureError

        try:
            token = await self.credential().get_token(_SCOPE)
        except AzureError as error:
            if self._clock() < self._until:
                log.warning("the token for storage cannot be renewed yet: %s", type(error).__name__)
                self._renew_at = min(self._clock() + _PAUSE, self._until)
                return
            why = "no login to storage was found: run `az login`, or set AZURE_CLIENT_ID for an identity"
            raise Unavailable(f"{why} ({type(error).__name__})") from error
        self._token, self._until = token.token, float(token.expires_on)
        self._renew_at = self._until - _MARGIN

    def credential(self) -> Any:
        """The credential, made at first use."""
        if self._credential is None:
            from azure.identity.aio import DefaultAzureCredential

            # A user-assigned identity must be named, or the system-assigned one is tried and fails.
            self._credential = DefaultAzureCredential(managed_identity_client_id=self._client_id or None)
        return self._credential

    async def close(self) -> None:
        """Close the connections of the credential."""
        if self._credential is not None:
            await self._credential.close()
            self._credential = None
