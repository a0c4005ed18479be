"""Authentication to storage: a shared key that signs each request, or a token of an identity.

Shared Key: learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key.
"""

from __future__ import annotations

import base64
import hmac
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from shared.core.errors import EngineError, Unavailable
from shared.login import Login

_SCOPE = "https://storage.azure.com/.default"


class Signer(Protocol):
    """Makes the Authorization header of one request."""

    async def authorization(
        self, verb: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], *, table: bool
    ) -> str:
        """The header's value. `path` is encoded as in the address; `query` is decoded."""

    async def close(self) -> None:
        """Close the connections through which tokens are fetched."""


class SharedKey:
    """Signs with the key of an account."""

    def __init__(self, account: str, key: str) -> None:
        self._account = account
        self._key = base64.b64decode(key)

    async def authorization(
        self, verb: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], *, table: bool
    ) -> str:
        """HMAC-SHA256 over the canonical form of the request."""
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
        digest = hmac.digest(self._key, "\n".join(lines).encode(), "sha256")
        return f"SharedKey {self._account}:{base64.b64encode(digest).decode()}"

    async def close(self) -> None:
        """Nothing to close: a key needs no connection."""


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


class Identity(Login):
    """A managed identity, or another credential of azure-identity."""

    def __init__(
        self, client_id: str, credential: Any = None, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__("storage", _SCOPE, client_id, credential, clock)

    async def authorization(
        self, verb: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], *, table: bool
    ) -> str:
        """A bearer token. Raises Unavailable when there is none."""
        try:
            return f"Bearer {await self.token()}"
        except EngineError as error:
            raise Unavailable(str(error)) from error
