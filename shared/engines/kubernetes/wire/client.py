"""HTTP calls to one API server: objects, lists in pages. aiohttp is imported lazily.

A call without an answer has an unknown outcome. Every call can be repeated.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from shared.core.errors import Misconfigured, Transient
from shared.core.no_answer import no_answer
from shared.engines.kubernetes.wire.access import SERVER, Access
from shared.engines.kubernetes.wire.bearer import Bearer
from shared.engines.kubernetes.wire.errors import failure, lacks_rights, reason_of
from shared.engines.kubernetes.wire.shapes import LIST, checked
from shared.engines.kubernetes.wire.starting import Starting
from shared.engines.kubernetes.wire.table import TABLE, Row, rows_of

if TYPE_CHECKING:
    from aiohttp import ClientSession

#: Seconds for a whole call, and for connecting.
_PATIENCE, _CONNECT = 30.0, 5.0
#: Entries of a page.
PAGE = 1000
_JSON = "application/json"
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
#: The type of a PATCH body that replaces members, and removes those that are null.
_MERGE = "application/merge-patch+json"


@dataclass(frozen=True)
class Answer:
    """A response of the API server."""

    status: int
    content: bytes

    @cached_property
    def body(self) -> Mapping[str, Any]:
        """The JSON object; empty if there is none. Read it once: a page is large."""
        try:
            document = json.loads(self.content)
        except (ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}

    @property
    def reason(self) -> str:
        """The reason of an error, or its status without one; "" for a success."""
        return (reason_of(self.body) or str(self.status)) if self.status >= 300 else ""


class KubernetesClient:
    """Calls to one API server. They raise the class of its error, or Transient without an answer."""

    def __init__(self, access: Access, bearer: Bearer, clock: Callable[[], float] = time.monotonic) -> None:
        self._access, self._bearer, self._clock = access, bearer, clock
        self._session: ClientSession | None = None
        self._starting = Starting()

    @property
    def server(self) -> str:
        """Its address as people may use it, too; "" for the one that only pods have."""
        return "" if self._access.url == SERVER else self._access.url.rstrip("/")

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, str] | None = None,
        accept: Collection[str] = (),
        form: str = _JSON,
    ) -> Answer:
        """One call. `path` begins with a slash and is not encoded. Error reasons in `accept` are returned."""
        content = b"" if body is None else _encode(body).encode()
        headers = {"Accept": form}
        if body is not None:
            headers["Content-Type"] = _MERGE if method == "PATCH" else _JSON
        answer = await self._send(method, path, query or {}, content, headers)
        if answer.status < 300:
            self._starting.is_over()
        elif lacks_rights(answer.status, answer.body) and answer.reason not in accept:
            if self._starting.may_pass(await self._readiness(), self._clock()):
                raise Transient("Kubernetes is starting, and has not read its roles yet")
            # It may have become ready in between.
            answer = await self._send(method, path, query or {}, content, headers)
        if answer.status >= 300 and answer.reason not in accept:
            raise failure(answer.status, answer.body)
        if answer.status < 300 and form != "*/*" and not answer.body:
            raise Transient("Kubernetes sent an answer that cannot be read")
        return answer

    async def rows(self, path: str, **query: str) -> AsyncIterator[Row]:
        """The rows of a list as the server prints them, page by page: names and words, no objects."""
        options = {"includeObject": "None", **query}
        async for page in self._pages(path, options, TABLE):
            for row in rows_of(page):
                yield row

    async def objects(self, path: str, **query: str) -> AsyncIterator[Any]:
        """The objects of a list, page by page; the caller checks the form of each."""
        async for page in self._pages(path, query, _JSON):
            items = page.get("items")
            if not isinstance(items, list):
                raise Transient("Kubernetes sent a list that cannot be read")
            for item in items:
                yield item

    async def log(self, path: str, limit: int) -> bytes:
        """The first bytes of the log of a pod's container. Raises NotFound once the pod is gone."""
        query = {"limitBytes": str(limit)}
        return (await self.call("GET", f"{path}/log", query=query, form="*/*")).content

    async def close(self) -> None:
        """Close the connections to the server."""
        await self._bearer.close()
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _pages(
        self, path: str, query: Mapping[str, str], form: str
    ) -> AsyncIterator[Mapping[str, Any]]:
        following = ""
        while True:
            options = {"limit": str(PAGE), **query, **({"continue": following} if following else {})}
            page = checked((await self.call("GET", path, query=options, form=form)).body, LIST, "a list")
            yield page
            before, following = following, (page.get("metadata") or {}).get("continue") or ""
            if not following:
                return
            if following == before:
                raise Transient("Kubernetes sent a list that never ends")

    async def _send(
        self, method: str, path: str, query: Mapping[str, str], content: bytes, headers: Mapping[str, str]
    ) -> Answer:
        from aiohttp import ClientError

        all_headers = await self._headers(headers)
        try:
            async with self._opened().request(
                method,
                self._url(path, query),
                data=content or None,
                headers=all_headers,
                allow_redirects=False,
            ) as answer:
                return Answer(answer.status, await answer.read())
        except (ClientError, OSError, EOFError, ValueError) as error:
            raise self._unanswered(error) from None

    async def _readiness(self) -> int:
        """The status of /readyz, which needs no rights; 0 without an answer."""
        from aiohttp import ClientError

        try:
            async with self._opened().get(self._url("/readyz", {}), allow_redirects=False) as answer:
                return answer.status
        except (ClientError, OSError, EOFError, ValueError):
            return 0

    async def _headers(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        token = await self._bearer.token()
        return {**headers, "Authorization": f"Bearer {token}"} if token else headers

    def _url(self, path: str, query: Mapping[str, str]) -> Any:
        return _url(self._access.url, path, tuple(query.items()))

    def _unanswered(self, error: Exception) -> Transient | Misconfigured:
        from aiohttp import ClientConnectorCertificateError

        if isinstance(error, ClientConnectorCertificateError):
            text = "the API server's certificate is not signed by the authority of its kubeconfig"
            return Misconfigured(f"Kubernetes: {text}")
        return Transient(f"Kubernetes does not answer: {no_answer(error)}")

    def _opened(self) -> ClientSession:
        from aiohttp import ClientTimeout

        from shared.connections.connector import Connector
        from shared.connections.session import session

        if self._session is None:
            tls = self._access.tls()
            timeout = ClientTimeout(total=_PATIENCE, connect=_CONNECT)
            connector = Connector(ssl=tls if tls is not None else True)
            self._session = session(connector, service="Kubernetes", timeout=timeout)
        return self._session


@lru_cache(maxsize=256)
def _url(server: str, path: str, query: tuple[tuple[str, str], ...]) -> Any:
    """The address of a call; most are of the same few paths."""
    from yarl import URL

    encoded = f"?{urlencode(query, quote_via=quote)}" if query else ""
    return URL(f"{server}{quote(path)}{encoded}", encoded=True)
