"""The token of an identity for a service of Azure; never shown. azure-identity is imported at first use."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from shared.core.errors import EngineError, Misconfigured, Transient
from shared.core.pacing.shared_call import SharedCall

if TYPE_CHECKING:
    from azure.core.credentials import AccessToken

    from shared.connections.transport import Transport

log = logging.getLogger(__name__)

#: Seconds before its end from which a token is renewed, and between two tries of that.
_MARGIN, _PAUSE = 300.0, 30.0
#: Seconds: for fetching a token (`az` alone may take ten), and for which one caller waits for a new token
#: while the old one is valid.
_PATIENCE, _SHORT = 20.0, 1.0
#: Seconds for which a failure that took longer than `_SHORT` is the answer to every caller.
_REST = 5.0


class Login:
    """A managed identity, or another credential of azure-identity; its token is kept while it is valid."""

    def __init__(
        self,
        service: str,
        scope: str,
        client_id: str,
        credential: Any = None,
        clock: Callable[[], float] = time.time,
        patience: float = _PATIENCE,
    ) -> None:
        self._service, self._scope, self._client_id = service, scope, client_id
        self._credential, self._clock, self._patience = credential, clock, patience
        self._transport: Transport | None = None
        self._token, self._until, self._renew_at = "", 0.0, 0.0
        self._failed_at, self._failure = float("-inf"), EngineError("")
        self._renewal = SharedCall(self._renew)

    async def token(self) -> str:
        """A valid token, after `patience` seconds at most.

        Raises Misconfigured when this process is given none, and Transient when nothing answers it.
        """
        now = self._clock()
        if now < self._renew_at:
            return self._token
        if now < self._until:
            await self._renewal.begin(min(_SHORT, self._patience))
        elif 0 <= now - self._failed_at < _REST:
            raise self._failure
        else:
            await self._renewal.result()
        return self._token

    def credential(self) -> Any:
        """A credential for clients of the SDKs, with this token. `close` of the login closes it."""
        return _Credential(self)

    async def close(self) -> None:
        """Close the connections of the credential."""
        await self._renewal.stop()
        if self._credential is not None:
            await self._credential.close()
            self._credential = self._transport = None

    async def access(self) -> AccessToken:
        """A valid token, with its end. Raises as `token` does."""
        from azure.core.credentials import AccessToken

        return AccessToken(await self.token(), int(self._until))

    async def _renew(self) -> None:
        from azure.core.exceptions import AzureError

        credential, began = self._opened(), self._clock()
        try:
            async with asyncio.timeout(self._patience):
                token = await credential.get_token(self._scope)
        except (AzureError, TimeoutError) as error:
            now = self._clock()
            if now < self._until:
                log.warning("the token for %s cannot be renewed yet: %s", self._service, type(error).__name__)
                self._renew_at = min(now + _PAUSE, self._until)
                return
            self._failure = self._meaning(error)
            if now - began > _SHORT:
                self._failed_at = now
            raise self._failure from None
        self._token, self._until = token.token, float(token.expires_on)
        self._renew_at = self._until - _MARGIN

    def _opened(self) -> Any:
        if self._credential is None:
            from azure.identity.aio import DefaultAzureCredential

            from shared.connections.transport import Transport

            self._transport = Transport()
            # A user-assigned identity must be named, or the system-assigned one is tried and fails.
            self._credential = DefaultAzureCredential(
                managed_identity_client_id=self._client_id or None, transport=self._transport
            )
        return self._credential

    def _meaning(self, error: Exception) -> EngineError:
        kind, late = _kind(self._credential), isinstance(error, TimeoutError)
        # A chain goes on after an endpoint that is not there, so for a person only time tells.
        silent = late or (kind != "person" and self._transport is not None and not self._transport.answered)
        if silent:
            within = f" within {self._patience:g} s" if late else ""
            return Transient(f"no token for {self._service}: {_SILENT[kind].format(within=within)}")
        return Misconfigured(f"no login to {self._service} was found: {_REFUSED[kind]}")


class _Credential:
    """What clients of the SDKs call."""

    def __init__(self, login: Login) -> None:
        self._login = login

    async def get_token(self, *scopes: str, **options: Any) -> AccessToken:
        return await self._login.access()

    async def close(self) -> None:
        return

    async def __aenter__(self) -> _Credential:
        return self

    async def __aexit__(self, *details: object) -> None:
        return


_AUTHORITY = "(AZURE_AUTHORITY_HOST, by default login.microsoftonline.com)"
#: By kind of credential, what to do where nothing answers.
_SILENT = {
    "managed": "the identity endpoint of this app (IDENTITY_ENDPOINT) does not answer{within}; it is part of"
    " Azure: restart the app if it stays silent",
    "principal": f"Entra does not answer{{within}}: check that this machine reaches it {_AUTHORITY}",
    "workload": f"Entra does not answer{{within}}: check that this pod reaches it {_AUTHORITY}",
    "person": "the login did not end{within}: `az account get-access-token` shows why",
}
#: The same where no token is given.
_REFUSED = {
    "managed": "assign an identity to the app, and set AZURE_CLIENT_ID unless it is the app's own",
    "principal": "check AZURE_CLIENT_ID, AZURE_TENANT_ID, and whether its secret or certificate has expired",
    "workload": "check AZURE_CLIENT_ID, and the federated credential of that identity",
    "person": "run `az login`, or set AZURE_CLIENT_ID for an identity",
}


def _kind(source: Any) -> str:
    """Which credential of the chain decides, by what the chain itself found in its environment."""
    chain = {type(one).__name__: one for one in getattr(source, "credentials", ())}
    inner = {name: type(getattr(one, "_credential", None)).__name__ for name, one in chain.items()}
    if inner.get("EnvironmentCredential", "NoneType") != "NoneType":
        return "principal"
    if "WorkloadIdentityCredential" in inner:
        return "workload"
    managed = inner.get("ManagedIdentityCredential", "NoneType")
    return "person" if managed in ("NoneType", "ImdsCredential") else "managed"
