"""What authenticates us at a Batch account: an identity, or the account's key; never shown."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, Protocol

from shared.core.errors import Misconfigured

log = logging.getLogger(__name__)

_SCOPE = "https://batch.core.windows.net/.default"
#: Seconds before its end from which a token is renewed, and between two tries of that.
_MARGIN, _PAUSE = 300.0, 30.0
#: The headers of the text to sign, in the service's order; an absent one is an empty line.
_SIGNED = (
    *("content-encoding", "content-language", "content-length", "content-md5", "content-type", "date"),
    *("if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range"),
)


class Key(Protocol):
    """What signs each call."""

    async def headers(
        self, verb: str, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Mapping[str, str]:
        """The headers to add to those of a call; `path` as in the URL. Raises Misconfigured."""

    async def close(self) -> None:
        """Close connections of its own."""


@dataclass(frozen=True)
class SharedKey:
    """A key of the account, for accounts that allow one, and for the emulator."""

    account: str
    secret: bytes = field(repr=False)
    clock: Callable[[], float] = field(default=time.time, repr=False, compare=False)

    async def headers(
        self, verb: str, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Mapping[str, str]:
        """The date, and the signature of the whole call but its body."""
        signed = {name.lower(): value for name, value in headers.items()}
        signed["ocp-date"] = formatdate(self.clock(), usegmt=True)
        lines = [verb, *(signed.get(name, "") for name in _SIGNED)]
        lines += [f"{name}:{signed[name]}" for name in sorted(signed) if name.startswith("ocp-")]
        lines.append(f"/{self.account}{path}")
        lines += [f"{name}:{query[name]}" for name in sorted(query)]
        digest = hmac.digest(self.secret, "\n".join(lines).encode(), "sha256")
        signature = base64.b64encode(digest).decode()
        return {"ocp-date": signed["ocp-date"], "Authorization": f"SharedKey {self.account}:{signature}"}

    async def close(self) -> None:
        """Do nothing: a shared key keeps no connection open."""


class Identity:
    """A managed identity, or another credential of azure-identity; its token is kept while it is valid."""

    def __init__(
        self, client_id: str, credential: Any = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._client_id, self._credential, self._clock = client_id, credential, clock
        self._token, self._until, self._renew_at = "", 0.0, 0.0
        self._asking = asyncio.Lock()

    async def headers(
        self, verb: str, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Mapping[str, str]:
        """A bearer token. Raises Misconfigured when there is none."""
        async with self._asking:
            if self._clock() >= self._renew_at:
                await self._renew()
        return {"Authorization": f"Bearer {self._token}"}

    async def close(self) -> None:
        """Close the connections of the credential."""
        if self._credential is not None:
            await self._credential.close()
            self._credential = None

    async def _renew(self) -> None:
        from azure.core.exceptions import AzureError

        try:
            token = await self._opened().get_token(_SCOPE)
        except AzureError as error:
            if self._clock() < self._until:
                log.warning("the token for Azure Batch cannot be renewed yet: %s", type(error).__name__)
                self._renew_at = min(self._clock() + _PAUSE, self._until)
                return
            why = "no login to Azure Batch was found: run `az login`, or set AZURE_CLIENT_ID for an identity"
            raise Misconfigured(f"{why} ({type(error).__name__})") from None
        self._token, self._until = token.token, float(token.expires_on)
        self._renew_at = self._until - _MARGIN

    def _opened(self) -> Any:
        if self._credential is None:
            from azure.identity.aio import DefaultAzureCredential

            # A user-assigned identity must be named, or the system-assigned one is tried and fails.
            self._credential = DefaultAzureCredential(managed_identity_client_id=self._client_id or None)
        return self._credential


def key_from(account: str, text: str, place: str) -> SharedKey:
    """The key of an account, in base64. Raises Misconfigured, which names the place and not the text."""
    try:
        secret = base64.b64decode(text.strip(), validate=True)
    except (ValueError, binascii.Error):
        secret = b""
    if len(secret) < 16:
        raise Misconfigured(f"{place} is no key of a Batch account, which is base64")
    return SharedKey(account, secret)
