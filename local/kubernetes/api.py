"""The calls of an API server that the nodes and the start of a cluster need, as JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from local.kubernetes.kubeconfig import Connection
from local.patience import Patience

MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
#: Answers that say nothing of the request itself.
_MOMENTARY = (429, 500, 502, 503, 504)
_FORBIDDEN, _NOT_FOUND, _CONFLICT = 403, 404, 409
_TIMEOUT = aiohttp.ClientTimeout(total=30)
#: Of a watch, seconds until the server ends it; it sends bookmarks each minute.
_WATCH_SECONDS = 300
#: In which a server that answers has read its roles.
_ROLES_SECONDS = 60.0
#: Bytes of the largest object.
_LARGEST = 4 << 20


class Unreachable(Exception):
    """The server gave no answer, or one that does not concern the request; a later try may succeed."""


class Refused(Exception):
    """The server refused a call; `status` and its words."""

    def __init__(self, call: str, status: int, body: Any) -> None:
        words = body.get("message", "") if isinstance(body, dict) else str(body)[:300]
        super().__init__(f"{call}: {status} {words}")
        self.status = status


class Api:
    """One API server, as one user."""

    def __init__(self, connection: Connection, session: aiohttp.ClientSession) -> None:
        self._connection = connection
        self._session = session

    async def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """Make one call and return its answer. Raises Unreachable or Refused."""
        headers = {**self._connection.headers, "Content-Type": kind}
        data = None if body is None else json.dumps(body)
        try:
            async with self._session.request(
                method,
                f"{self._connection.url}{path}",
                data=data,
                headers=headers,
                ssl=self._connection.tls,
                timeout=_TIMEOUT,
            ) as response:
                text = await response.text()
                status = response.status
        except aiohttp.ClientConnectorCertificateError:
            raise  # no later try succeeds
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Unreachable(f"{method} {path}: {error or 'no answer'}") from None
        if status in _MOMENTARY:
            raise Unreachable(f"{method} {path}: {status} {text[:200]}")
        answer = json.loads(text) if text[:1] == "{" else text
        if status >= 400:
            raise Refused(f"{method} {path}", status, answer)
        return answer

    async def insist(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """The same until the server answers, however long it is away. Raises Refused.

        A server that has just started refuses everything with 403 until it has read its roles.
        """
        wait, forbidden = 0.1, Patience(_ROLES_SECONDS)
        while True:
            try:
                return await self.call(method, path, body, kind)
            except Unreachable:
                forbidden = Patience(_ROLES_SECONDS)
            except Refused as error:
                if error.status != _FORBIDDEN or forbidden.is_over(None):
                    raise
            await asyncio.sleep(wait)
            wait = min(2.0, wait * 2)

    async def make(self, path: str, body: Mapping[str, Any]) -> Any:
        """Make an object; the one that is there already where there is one of that name."""
        try:
            return await self.insist("POST", path, body)
        except Refused as error:
            if error.status != _CONFLICT:
                raise
            return await self.insist("GET", f"{path}/{body['metadata']['name']}")

    async def find(self, path: str) -> Any:
        """An object, or None where there is none. Raises Unreachable or Refused."""
        try:
            return await self.call("GET", path)
        except Refused as error:
            if error.status != _NOT_FOUND:
                raise
            return None

    async def watch(self, path: str, query: str) -> AsyncIterator[Mapping[str, Any]]:
        """Events of a collection from now on, until the server ends it. Raises Unreachable or Refused."""
        url = f"{self._connection.url}{path}?watch=1&timeoutSeconds={_WATCH_SECONDS}&{query}"
        patience = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=_WATCH_SECONDS + 30)
        try:
            async with self._session.get(
                url, headers=self._connection.headers, ssl=self._connection.tls, timeout=patience
            ) as response:
                if response.status != 200:
                    raise Unreachable(f"watch of {path}: {response.status}")
                async for line in response.content:
                    yield json.loads(line)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise Unreachable(f"watch of {path}: {error}") from None


@asynccontextmanager
async def api(connection: Connection) -> AsyncIterator[Api]:
    """The server for the length of the block."""
    connector = aiohttp.TCPConnector(limit=32)
    async with aiohttp.ClientSession(connector=connector, read_bufsize=_LARGEST) as session:
        yield Api(connection, session)
