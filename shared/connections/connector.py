"""The connector of every HTTP session of the app: it never cancels an attempt to connect.

Loaded at the first request. uvloop, on which Azure's worker runs, gives a socket two owners where a task is
cancelled between `socket()` and the end of `create_connection`. The second owner closes the number of the
descriptor when another connection has it: requests fail, get the answers of others, or the worker aborts. So
each attempt is a task of its own, whose end the kernel and the TLS handshake bound. A caller that gives up
only stops waiting: the attempt goes on, and the next request to the same place takes it over, or its
connection from the pool, where it is closed if it stays idle.
"""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from typing import Any

from aiohttp import (
    AddrInfoType,
    ClientConnectorError,
    ClientRequest,
    ClientTimeout,
    Fingerprint,
    SocketFactoryType,
    TCPConnector,
)
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

_Connected = tuple[asyncio.Transport, ResponseHandler]
_Attempt = asyncio.Task[_Connected]

#: How often the kernel repeats an unanswered SYN: after 1, 3 and 7 s; the attempt fails after 15 s.
_REPEATS = 3
#: Seconds: for a TLS handshake; until the next address of a name is tried as well (RFC 8305); for attempts to
#: end when the connector is closed.
_HANDSHAKE, _STAGGER, _CLOSING = 20.0, 0.25, 1.0
#: So many attempts go on without a caller. Where there are more, callers wait until one has ended.
_MOST = 64
_UNLIMITED = ClientTimeout()


class Connector(TCPConnector):
    """A pool of connections. `open_socket` makes the socket for an address, or raises OSError.

    `stagger`: seconds until the next address of a name is tried as well. `most`: attempts without a caller.
    """

    def __init__(
        self,
        *,
        open_socket: SocketFactoryType | None = None,
        stagger: float = _STAGGER,
        most: int = _MOST,
        **options: Any,
    ) -> None:
        factory = partial(_bounded, open_socket or _open)
        # aiohappyeyeballs cancels the attempts that lose its race.
        super().__init__(socket_factory=factory, happy_eyeballs_delay=None, **options)
        self._stagger, self._most = stagger, most
        #: Attempts that have not ended.
        self.attempts: set[_Attempt] = set()
        #: Attempts for which no caller waits, the oldest first.
        self._abandoned: dict[_Attempt, ConnectionKey] = {}

    def close_idle(self) -> None:
        """Close the connections that serve no request now."""
        for idle in self._conns.values():
            for protocol, _ in idle:
                protocol.close()
        self._conns.clear()

    async def close(self, *, abort_ssl: bool = False) -> None:
        """Close every connection. Those of attempts that take longer are closed when they have ended."""
        await super().close(abort_ssl=abort_ssl)
        if self.attempts:
            await asyncio.wait(set(self.attempts), timeout=_CLOSING)

    async def _get(self, key: ConnectionKey, traces: list[Trace]) -> Connection | None:
        """A connection of the pool over which nothing came since: no request may take that for its answer."""
        while (idle := await super()._get(key, traces)) is not None:
            if idle.protocol is not None and not idle.protocol.should_close:
                break
            idle.close()
        return idle

    async def _wrap_create_connection(
        self,
        *args: Any,
        addr_infos: list[AddrInfoType],
        req: ClientRequest,
        timeout: ClientTimeout,  # noqa: ASYNC109 - as aiohttp calls it
        client_error: type[Exception] = ClientConnectorError,
        **kwargs: Any,
    ) -> _Connected:
        if kwargs.get("ssl"):
            kwargs["ssl_handshake_timeout"] = _HANDSHAKE
        options = {"req": req, "timeout": _UNLIMITED, "client_error": client_error, **kwargs}
        connect = partial(super()._wrap_create_connection, *args, **options)
        addresses = [partial(connect, addr_infos=[one]) for one in addr_infos]
        try:
            async with asyncio.timeout(timeout.sock_connect):
                return await self._race(req.connection_key, addresses)
        except Exception:
            addr_infos.clear()  # aiohttp would try the others again
            raise

    async def _race(self, key: ConnectionKey, addresses: list[Any]) -> _Connected:
        """The first connection that is made, to any of the addresses; or the error of the first failure."""
        attempts = self._adopted(key)
        rests, error = bool(attempts), None
        try:
            while attempts or addresses:
                if addresses and not rests and len(self._abandoned) < self._most:
                    attempts.add(self._begin(addresses.pop(0)))
                rests = False
                ended, _ = await asyncio.wait(
                    attempts or set(self._abandoned),
                    timeout=self._stagger if addresses else None,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for attempt in ended & attempts:
                    attempts.remove(attempt)
                    if not (failure := attempt.exception()):
                        return attempt.result()
                    error = error or failure
        finally:
            for attempt in attempts:
                self._abandoned[attempt] = key
                attempt.add_done_callback(self._keep)
        raise error or OSError("no address")

    def _begin(self, connect: Any) -> _Attempt:
        attempt: _Attempt = asyncio.create_task(connect())
        self.attempts.add(attempt)
        attempt.add_done_callback(self.attempts.discard)
        return attempt

    def _adopted(self, key: ConnectionKey) -> set[_Attempt]:
        """The oldest attempt for the same place that no caller waits for, if there is one."""
        for attempt, one in self._abandoned.items():
            if one == key:
                del self._abandoned[attempt]
                return {attempt}
        return set()

    def _keep(self, attempt: _Attempt) -> None:
        """Put the connection of an attempt for which no caller waited into the pool."""
        key = self._abandoned.pop(attempt, None)
        if key is None or attempt.cancelled() or attempt.exception() is not None:
            return
        _, protocol = attempt.result()
        if self.closed or isinstance(key.ssl, Fingerprint) or isinstance(self._ssl, Fingerprint):
            protocol.close()  # aiohttp compares a fingerprint only for a caller
        else:
            Connection(self, key, protocol, self._loop).release()


def _open(address: AddrInfoType) -> socket.socket:
    family, kind, protocol, _, _ = address
    return socket.socket(family, kind, protocol)


def _bounded(open_socket: SocketFactoryType, address: AddrInfoType) -> socket.socket:
    """A socket with which an attempt to connect ends by itself, before the caller has lost its patience."""
    opened = open_socket(address)
    if hasattr(socket, "TCP_SYNCNT"):  # elsewhere the system's own bound holds
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, _REPEATS)
    return opened
