"""HTTP sessions, and the transport of Azure's SDKs, over connections of ours. Loaded at the first request."""

from __future__ import annotations

from typing import Any

from aiohttp import ClientSession

from shared.connections.connector import Connector


def session(connector: Connector | None = None, **options: Any) -> ClientSession:
    """A session; the options are aiohttp's. Its timeouts end waits of callers, and no attempt to connect."""
    return ClientSession(connector=connector or Connector(), **options)
