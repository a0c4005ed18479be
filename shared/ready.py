"""ready: whether the dispatcher can do its work now. Bounded in time; an answer is good for some seconds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import dataclass

from shared.admit import paused
from shared.errors import SlipwayError
from shared.ports import Ports

log = logging.getLogger(__name__)

#: Seconds for the answers of storage and clusters, and for which one answer is good.
_PATIENCE, _GOOD = 4.0, 5.0


@dataclass(frozen=True)
class Ready:
    """What answers. No names and no reasons: anybody may ask. `paused` is no trouble."""

    storage: bool
    engine: bool
    paused: bool

    @property
    def ready(self) -> bool:
        """Whether a job could be accepted and submitted."""
        return self.storage and self.engine


async def ready(ports: Ports) -> Ready:
    """Ask storage and every cluster, all at once. Never raises; what is wrong stands in the log."""
    return await ports.memo.get("ready", ports.clock(), _GOOD, lambda: _look(ports))


async def _look(ports: Ports) -> Ready:
    clusters = ports.engines.clusters.values()
    storage, *engines = await asyncio.gather(
        _answers("storage", _storage(ports)),
        *(_answers(f"cluster {one.name}", _engine(ports, one.engine, one.name)) for one in clusters),
    )
    stopped = storage and await _answers("the switch", _is_paused(ports))
    return Ready(storage, all(engines), stopped)


async def _answers(what: str, question: Awaitable[bool]) -> bool:
    try:
        async with asyncio.timeout(_PATIENCE):
            return await question
    except (SlipwayError, TimeoutError) as error:
        log.warning("not ready: %s does not answer: %s", what, error or "no answer in time")
        return False


async def _storage(ports: Ports) -> bool:
    """A table and a container, each by one small question."""
    await asyncio.gather(ports.ledger.get("j_health"), ports.drops.read("slipway-health", limit=0))
    return True


async def _engine(ports: Ports, engine: str, cluster: str) -> bool:
    await ports.engines.of(engine).nodes(cluster)
    return True


async def _is_paused(ports: Ports) -> bool:
    return await paused(ports) is not None
