"""The HTTP transport that every client of an Azure SDK in the app is given. Loaded with the first one."""

from __future__ import annotations

from typing import Any

from aiohttp import ClientSession, DummyCookieJar
from azure.core.pipeline.transport import AioHttpTransport

from shared.connections.session import session


class Transport(AioHttpTransport):  # type: ignore[misc]
    """azure-core's transport, over a session of ours that the first request opens."""

    def __init__(self, *, use_env_settings: bool = True, **options: Any) -> None:
        """`use_env_settings`: whether a proxy in the environment is used. The others are azure-core's."""
        super().__init__(use_env_settings=use_env_settings, **options)
        self._trust_env = use_env_settings
        self.session: ClientSession | None

    async def open(self) -> None:
        """Open the session, unless it is open or was closed, which azure-core reports."""
        if self.session is None and not self._has_been_opened:
            self.session = session(
                trust_env=self._trust_env, cookie_jar=DummyCookieJar(), auto_decompress=False
            )
        await super().open()
