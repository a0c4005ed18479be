"""The tokens that authenticate us at an API server; never shown."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from shared.core.errors import Misconfigured
from shared.engines.kubernetes.wire.access import Access

log = logging.getLogger(__name__)

#: The application of all AKS clusters with Entra log-in.
_SCOPE = "6dae42f8-4368-4678-94ff-3960e28e3630/.default"
#: Seconds before its end from which a token is renewed, and between two tries of that.
_MARGIN, _PAUSE = 300.0, 30.0
#: Seconds for which a file's token is good: the cluster replaces it well before its end.
_GOOD = 60.0


class Bearer(Protocol):
    """What gives the token of a call; "" for none."""

    async def token(self) -> str:
        """The token. Raises Misconfigured."""

    async def close(self) -> None:
        """Close connections of its own."""


def bearer_of(access: Access) -> Bearer:
    """The token of a kubeconfig or of a pod."""
    return FileToken(access.token_file) if access.token_file else FixedToken(access.token)


@dataclass(frozen=True)
class FixedToken:
    """One that stays."""

    text: str = field(repr=False)

    async def token(self) -> str:
        """The same each time."""
        return self.text

    async def close(self) -> None:
        """Nothing is open."""


class FileToken:
    """One in a file, which the cluster replaces now and then."""

    def __init__(self, file: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._file, self._clock = Path(file), clock
        self._text, self._until = "", float("-inf")

    async def token(self) -> str:
        """What is in the file, at most a minute old."""
        if self._clock() >= self._until:
            try:
                self._text = (await asyncio.to_thread(self._file.read_text, "ascii")).strip()
            except (OSError, ValueError) as error:
                text = f"the token in {self._file} cannot be read ({type(error).__name__})"
                raise Misconfigured(text) from None
            self._until = self._clock() + _GOOD
        return self._text

    async def close(self) -> None:
        """Nothing is open."""


class EntraToken:
    """That of an identity, for AKS with Entra log-in; it is kept while it is valid."""

    def __init__(
        self, client_id: str, credential: Any = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._client_id, self._credential, self._clock = client_id, credential, clock
        self._text, self._until, self._renew_at = "", 0.0, 0.0
        self._asking = asyncio.Lock()

    async def token(self) -> str:
        """A token of the identity."""
        async with self._asking:
            if self._clock() >= self._renew_at:
                await self._renew()
        return self._text

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
                log.warning("the token for Kubernetes cannot be renewed yet: %s", type(error).__name__)
                self._renew_at = min(self._clock() + _PAUSE, self._until)
                return
            why = "no login to AKS was found: run `az login`, or set AZURE_CLIENT_ID for an identity"
            raise Misconfigured(f"{why} ({type(error).__name__})") from None
        self._text, self._until = token.token, float(token.expires_on)
        self._renew_at = self._until - _MARGIN

    def _opened(self) -> Any:
        if self._credential is None:
            from azure.identity.aio import DefaultAzureCredential

            # A user-assigned identity must be named, or the system-assigned one is tried and fails.
            self._credential = DefaultAzureCredential(managed_identity_client_id=self._client_id or None)
        return self._credential
