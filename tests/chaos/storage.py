"""Azurite that is killed by SIGKILL and comes back, at the same addresses, with all that it acknowledged."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from local.azurite import Azurite, azurite

#: Makes each of Azurite's answers wait for the disk.
DURABLE = Path(__file__).with_name("durable.mjs")


class MortalStorage:
    """One Azurite on disk, in as many lives as it takes. `kills` counts those that ended by SIGKILL."""

    def __init__(self, location: Path, preload: Sequence[Path] = (DURABLE,)) -> None:
        self.kills = 0
        self._location = location
        self._preload = preload
        self._life = AsyncExitStack()
        self._now: Azurite | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Azurite]:
        """Its first life; the addresses hold for all of them."""
        try:
            yield await self._live(None)
        finally:
            await self._life.aclose()

    async def kill(self) -> None:
        """End it by SIGKILL and start it again. Raises AzuriteError when it does not come back."""
        dying = self._now
        assert dying is not None
        dying.process.signal(signal.SIGKILL)
        await dying.process.wait()
        self.kills += 1
        await self._life.aclose()
        ports = [urlsplit(url).port or 0 for url in (dying.blob_url, dying.queue_url, dying.table_url)]
        await self._live((ports[0], ports[1], ports[2]))

    async def _live(self, ports: tuple[int, int, int] | None) -> Azurite:
        started = azurite(self._location, ports=ports, preload=self._preload)
        self._now = await self._life.enter_async_context(started)
        return self._now
