"""An ssh server for each node, at an address of its own; each listens as long as its node is there."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from local.batchai.state import ids

if TYPE_CHECKING:
    from pathlib import Path

    from local.batchai.ssh.node_server import Listener
    from local.batchai.state.database import Store
    from local.batchai.state.models import Cluster, Node
    from local.nodes.run import Run
    from local.nodes.ssh.guests import Guests

_log = logging.getLogger(__name__)
#: The service counted ports from here on; the others are tried where another emulator has one.
_FIRST_PORT, _STEP, _LAST_PORT = 50000, 200, 60000
#: Nodes that cannot be logged in to: not there yet, or no longer.
_ABSENT = frozenset({"allocating", "leaving"})


class _Place(NamedTuple):
    """A node of a cluster."""

    cluster: str
    node: str


class LoginServers:
    """The nodes' ssh servers, each listening as long as its node is there. `runs`: those of jobs, by key."""

    def __init__(self, store: Store, data: Path, runs: Mapping[str, Run]) -> None:
        self._store, self._data, self._runs = store, data, runs
        self._sockets = dict[_Place, socket.socket]()
        self._listeners: dict[_Place, Listener] = {}
        self._news = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to follow the nodes."""
        self._loop = asyncio.create_task(self._follow(), name="ssh servers")

    def nudge(self) -> None:
        """Nodes may have come or gone."""
        self._news.set()

    async def stop(self) -> None:
        """Close all of them, with their connections."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.wait({self._loop})
        for place in [*self._sockets]:
            await self._close(place)

    def port(self, cluster: str, node: Node) -> int:
        """The port at which a node answers; it listens from then on."""
        place = _Place(ids.key(cluster), node.id)
        if place not in self._sockets:
            listening = _listening(node)
            if listening is None:
                return _FIRST_PORT + node.number - 1
            self._sockets[place] = listening
            self.nudge()
        return int(self._sockets[place].getsockname()[1])

    async def _follow(self) -> None:
        while True:
            nodes = self._nodes()
            for place in [one for one in self._sockets if one not in nodes]:
                await self._close(place)
            for place, node in nodes.items():
                self.port(place.cluster, node)
                if place in self._sockets and place not in self._listeners:
                    self._listeners[place] = await self._open(place, node)
            await self._news.wait()
            self._news.clear()

    def _nodes(self) -> Mapping[_Place, Node]:
        return {
            _Place(ids.key(cluster.id), node.id): node
            for cluster in self._store.clusters
            for node in cluster.nodes
            if node.state not in _ABSENT
        }

    async def _open(self, place: _Place, node: Node) -> Listener:
        from local.batchai.ssh.node_server import listen  # loaded for the first node

        def job_guests() -> Guests | None:
            current = self._nodes().get(place)
            run = self._runs.get(current.job) if current and current.job else None
            return run.guests if run else None

        def cluster() -> Cluster | None:
            return self._store.clusters.get(place.cluster)

        return await listen(self._sockets[place], self._data, node, cluster, job_guests)

    async def _close(self, place: _Place) -> None:
        listener = self._listeners.pop(place, None)
        if listener is not None:
            listener.close()
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await listener.wait_closed()
        self._sockets.pop(place).close()


def _listening(node: Node) -> socket.socket | None:
    """A socket at the node's address; None where this machine has no such address."""
    for port in range(_FIRST_PORT + node.number - 1, _LAST_PORT, _STEP):
        try:
            return socket.create_server((node.address, port))
        except OSError as error:
            reason = error.strerror
    _log.warning("node %s answers no ssh: %s", node.address, reason)
    return None
