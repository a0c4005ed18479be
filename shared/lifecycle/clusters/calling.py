"""One call to a cluster: with a deadline, and none while its breaker is open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared.core.engine import Engine
from shared.core.errors import Busy, EngineError, LeftAlone, Transient
from shared.core.ports import Ports


@asynccontextmanager
async def calling(ports: Ports, engine: str, cluster: str, seconds: float | None) -> AsyncIterator[Engine]:
    """The engine, for one call inside the block. The outcome updates the cluster's breaker.

    Raises LeftAlone without a call while the breaker is open, TimeoutError after `seconds` (None: the caller
    sets the limit), and any error of the call.
    """
    path = cluster_path(engine, cluster)
    if ports.breaker.wait(path, ports.clock()):
        raise LeftAlone(f"{cluster} does not answer, and is left alone for a while")
    try:
        async with asyncio.timeout(seconds):
            yield ports.engines.get(engine)
    except (Transient, TimeoutError) as error:
        if isinstance(error, Busy):
            ports.breaker.succeeded(path)
        else:
            ports.breaker.failed(path, ports.clock())
        raise
    except EngineError:  # an error of the engine is an answer, too
        ports.breaker.succeeded(path)
        raise
    except Exception:  # the adapter failed, so the outcome is unknown
        ports.breaker.failed(path, ports.clock())
        raise
    ports.breaker.succeeded(path)


def left_alone(ports: Ports, engine: str, cluster: str) -> bool:
    """Whether a call would raise LeftAlone; does not take the probe."""
    return ports.breaker.open(cluster_path(engine, cluster), ports.clock())


def cluster_path(engine: str, cluster: str) -> str:
    """The name of a cluster's breaker."""
    return f"{engine}/{cluster}"
