"""The filter between a connection of webhooks and aiohttp, which would refuse answers that are only unusual.

Loaded at the first delivery. It reads the head of each answer itself (`head.py`). aiohttp gets a head of our
own making, which says where the body ends and nothing else, and then the body.
"""

from __future__ import annotations

import asyncio

from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError

from shared.adapters.webhook.head import Head

#: Always the same status, because some others change where a body ends.
_START, _END = b"HTTP/1.1 200 OK\r\n", b"\r\n"
_LAST = b"Content-Length: 0\r\nConnection: close\r\n"


class Filter(asyncio.Protocol):
    """What the transport of one connection calls, instead of aiohttp's own protocol."""

    def __init__(self, behind: ResponseHandler) -> None:
        self._behind = behind
        self._head: Head | None = None
        self._passes = False

    def expect(self, head: Head) -> None:
        """From now on an answer may arrive."""
        self._head, self._passes = head, False

    def rest(self) -> None:
        """No request is under way: what arrives answers none."""
        self._head = None

    def data_received(self, data: bytes) -> None:
        """Read the head. The body of an ordinary answer is passed on, that of any other is dropped."""
        if self._head is None:
            self._behind.abort()
        elif not self._head.over:
            if (rest := self._head.feed(data)) is not None:
                self._pass_on(self._head, rest)
        elif self._passes:
            self._behind.data_received(data)

    def eof_received(self) -> None:
        """Nothing more arrives; the connection is lost next."""
        self._behind.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """What has arrived of an answer is the answer."""
        if self._head is not None and not self._head.over:
            self._head.cut()
            if self._head.status is not None:
                self._pass_on(self._head, b"")
        self._behind.connection_lost(exc)

    def pause_writing(self) -> None:
        """Flow control of the request."""
        self._behind.pause_writing()

    def resume_writing(self) -> None:
        """Flow control of the request."""
        self._behind.resume_writing()

    def _pass_on(self, head: Head, rest: bytes) -> None:
        if head.status is None:
            self._behind.set_exception(HttpProcessingError(message="this is not an answer"))
            self._behind.close()
            return
        framing = head.framing
        self._passes = framing is not None
        # In two calls: an error in the body comes too late to be one of the head.
        self._behind.data_received(_START + (framing or _LAST) + _END)
        if self._passes and rest:
            self._behind.data_received(rest)


def expect(connection: Connection, head: Head) -> None:
    """Read the answer to the next request on this connection into `head`."""
    transport, protocol = connection.transport, connection.protocol
    if transport is None or protocol is None:
        return  # lost in the meantime, which the request finds out
    behind = transport.get_protocol()
    if isinstance(behind, Filter):
        head.reused = True
    else:
        behind = Filter(protocol)
        transport.set_protocol(behind)
    behind.expect(head)
    connection.add_callback(behind.rest)
