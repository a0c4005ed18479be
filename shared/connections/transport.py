"""The HTTP transport that every client of an Azure SDK in the app is given. Loaded with the first one."""

from __future__ import annotations

from typing import Any
from urllib.request import getproxies, proxy_bypass

from aiohttp import ClientSession, DummyCookieJar
from azure.core.exceptions import ServiceResponseError
from azure.core.pipeline.transport import AioHttpTransport
from yarl import URL

from shared.connections.pauses import Pauses
from shared.connections.session import distrust, session

#: The name that a client gives to a request; services that repeat it name the request that they answer.
_ID = "x-ms-client-request-id"


class Transport(AioHttpTransport):  # type: ignore[misc]
    """azure-core's transport, over a session of ours that the first request opens."""

    def __init__(self, *, use_env_settings: bool = True, service: str = "", **options: Any) -> None:
        """`use_env_settings`: whether a proxy in the environment is used. The others are azure-core's.

        With the name of a `service`, a request raises Busy where that asks for a pause: azure-core would
        sleep for all of it, in the middle of a pass.
        """
        super().__init__(use_env_settings=False, **options)
        # Looked up once: aiohttp would ask in a thread at each request, and for .netrc in a second one, whose
        # words it would put beside the request's own authorization.
        self._proxies = getproxies() if use_env_settings else {}
        self._pauses = Pauses(service) if service else None
        self.session: ClientSession | None
        #: whether the last request has an answer
        self.answered = False

    async def open(self) -> None:
        """Open the session, unless it is open or was closed, which azure-core reports."""
        if self.session is None and not self._has_been_opened:
            self.session = session(cookie_jar=DummyCookieJar(), auto_decompress=False)
        await super().open()

    async def send(self, request: Any, **options: Any) -> Any:
        """Send a request. One that names another request is discarded: azure-core tries again."""
        self.answered = False
        address = "" if self._pauses is None else str(URL(request.url).origin())
        if self._pauses is not None:
            self._pauses.check(address, request.method)
        answer = await super().send(request, proxy=self._proxy(URL(request.url)), **options)
        self.answered = True
        if self._pauses is not None:
            self._pauses.heed(address, request.method, answer.status_code, answer.headers.get("Retry-After"))
            self._pauses.check(address, request.method)
        name = answer.headers.get(_ID)
        if name is not None and name != request.headers.get(_ID, name):
            if self.session is not None:
                distrust(self.session, answer.internal_response)
            raise ServiceResponseError("the answer to another request")
        return answer

    def _proxy(self, url: URL) -> str | None:
        proxy = self._proxies.get(url.scheme)
        return proxy if proxy and not proxy_bypass(url.host or "") else None
