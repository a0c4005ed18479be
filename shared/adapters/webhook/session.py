"""The HTTP session of the webhook sender: a connection may serve the next event of its address, and no other.

Loaded at the first delivery. A receiver's response could be read as the response to the next request on the
same connection. So two addresses, and with them two tenants of one host, never share a connection.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import cast

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection

from shared.adapters.webhook.filter import expect
from shared.adapters.webhook.gate import Gate
from shared.adapters.webhook.head import Head
from shared.connections import session as connections
from shared.connections.connector import Connector
from shared.core.notify.cloudevents import CONTENT_TYPE

#: Bytes of a response that are held in memory; its body is never read.
_READ_LIMIT = 4096
#: Seconds for which an idle connection is kept: less than servers keep it, and enough for a burst of events.
_IDLE = 2.0
#: A server may close a kept connection at the very moment when it is used again.
CONNECTION_LOST = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)


#: The head that the answer to the request of this task is read into.
HEAD: ContextVar[Head] = ContextVar("HEAD")


class _Request(aiohttp.ClientRequest):
    @property
    def connection_key(self) -> ConnectionKey:
        """The whole address, in a field that only distinguishes connections: there is no proxy."""
        return super().connection_key._replace(proxy_headers_hash=str(self.url))  # type: ignore[arg-type]

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        expect(conn, HEAD.get())
        return await super().send(conn)


def session(gate: Gate, connect_seconds: float) -> aiohttp.ClientSession:
    """A session whose every connection passes the gate. Who sends a request sets `HEAD` first."""
    return connections.session(
        Connector(
            resolver=cast("AbstractResolver", gate),
            open_socket=gate.open,  # aiohttp does not call the resolver for an IP literal
            use_dns_cache=False,
            keepalive_timeout=_IDLE,
            limit=0,  # the slots bound it
        ),
        request_class=_Request,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={
            "Content-Type": CONTENT_TYPE,
            "Accept-Encoding": "identity",
            "User-Agent": "Slipway-Webhooks",
        },
        auto_decompress=False,
        trust_env=False,
        read_bufsize=_READ_LIMIT,
        timeout=aiohttp.ClientTimeout(total=None, connect=connect_seconds),
    )
