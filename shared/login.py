"""The token of an identity for a service of Azure; never shown. azure-identity is imported at first use."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from shared.core.errors import Misconfigured

log = logging.getLogger(__name__)

#: Seconds before its end from which a token is renewed, and between two tries of that.
_MARGIN, _PAUSE = 300.0, 30.0


class Login:
    """A managed identity, or another credential of azure-identity; its token is kept while it is valid."""

    def __init__(
        self,
        service: str,
        scope: str,
        client_id: str,
        credential: Any = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._service, self._scope, self._client_id = service, scope, client_id
        self._credential, self._clock = credential, clock
        self._token, self._until, self._renew_at = "", 0.0, 0.0
        self._asking = asyncio.Lock()

    async def token(self) -> str:
        """A valid token. Raises Misconfigured when there is none."""
        async with self._asking:
            if self._clock() >= self._renew_at:
                await self._renew()
        return self._token

    def credential(self) -> Any:
        """The credential, made at first use."""
        if self._credential is None:
            from azure.identity.aio import DefaultAzureCredential

            from shared.connections.transport import Transport

            # A user-assigned identity must be named, or the system-assigned one is tried and fails.
            self._credential = DefaultAzureCredential(
                managed_identity_client_id=self._client_id or None, transport=Transport()
            )
        return self._credential

    async def close(self) -> None:
        """Close the connections of the credential."""
        if self._credential is not None:
            await self._credential.close()
            self._credential = None

    async def _renew(self) -> None:
        from azure.core.exceptions import AzureError

        try:
            token = await self.credential().get_token(self._scope)
        except AzureError as error:
            if self._clock() < self._until:
                log.warning("the token for %s cannot be renewed yet: %s", self._service, type(error).__name__)
                self._renew_at = min(self._clock() + _PAUSE, self._until)
                return
            remedy = "run `az login`, or set AZURE_CLIENT_ID for an identity"
            why = f"no login to {self._service} was found: {remedy}"
            raise Misconfigured(why) from None
        self._token, self._until = token.token, float(token.expires_on)
        self._renew_at = self._until - _MARGIN
