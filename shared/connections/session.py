"""HTTP sessions, and the transport of Azure's SDKs, over connections of ours. Loaded at the first request."""

from __future__ import annotations

from typing import Any

from aiohttp import ClientResponse, ClientSession

from shared.connections.connector import Connector
from shared.connections.limits import ANSWER_LIMITS
from shared.connections.pauses import Pauses


def session(connector: Connector | None = None, *, service: str = "", **options: Any) -> ClientSession:
    """A session; the options are aiohttp's. Its timeouts end waits of callers, and no attempt to connect.

    With the name of a `service`, requests raise Busy while that asks for a pause (`Retry-After`).
    """
    if service:
        options["middlewares"] = (Pauses(service),)
    return ClientSession(connector=connector or Connector(), **{**ANSWER_LIMITS, **options})


def distrust(http: ClientSession, answer: ClientResponse) -> None:
    """Close the connection over which an answer to another request came: those that follow may be, too.

    It may have gone back to the pool with the last byte of the answer, so every idle one is closed.
    """
    answer.close()
    if isinstance(http.connector, Connector):
        http.connector.close_idle()
