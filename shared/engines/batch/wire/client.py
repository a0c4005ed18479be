"""HTTP calls to one Batch account: api-version, signature, pages. aiohttp is imported lazily.

A call without an answer has an unknown outcome. Every call can be repeated.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from shared.core.errors import Transient
from shared.core.no_answer import no_answer
from shared.engines.batch.wire.errors import code_of, failure
from shared.engines.batch.wire.sign import Key

if TYPE_CHECKING:
    from aiohttp import ClientSession

API = "2025-06-01"
#: Seconds for a whole call, and for connecting.
_PATIENCE, _CONNECT = 30.0, 5.0
#: The most entries of a page: the service refuses more. Its lists without an entry of their own have PAGE.
PAGE = 1000
_PAGES: Mapping[str, int] = {"/nodecounts": 10}
#: The name of a call, which its answer repeats.
_ID = "client-request-id"
_JSON = "application/json; odata=minimalmetadata; charset=utf-8"


@dataclass(frozen=True)
class Answer:
    """An answer. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def body(self) -> Mapping[str, Any]:
        """The JSON object; empty if there is none."""
        try:
            document = json.loads(self.content)
        except ValueError:
            return {}
        return document if isinstance(document, dict) else {}

    @property
    def document(self) -> Mapping[str, Any]:
        """The JSON object. Raises Transient if there is none, as in an error page of a proxy."""
        if not self.body:
            raise Transient("Azure Batch sent an answer that cannot be read")
        return self.body

    @property
    def code(self) -> str:
        """The code of an error; "" for a success."""
        return code_of(self.body) if self.status >= 400 else ""


class BatchClient:
    """Calls to one account. They raise the class of the service's error, or Transient without an answer."""

    def __init__(self, url: str, key: Key) -> None:
        self._root, self._key = url.rstrip("/"), key
        self._session: ClientSession | None = None

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        accept: Collection[str] = (),
    ) -> Answer:
        """One call. `path` begins with a slash and is not encoded. Error codes in `accept` are returned."""
        answer = await self._send(method, path, {**(query or {}), "api-version": API}, body, headers or {})
        if answer.status >= 400 and answer.code not in accept:
            raise failure(answer.status, answer.body)
        return answer

    async def listed(self, path: str, **query: str) -> AsyncIterator[Mapping[str, Any]]:
        """The entries of a list, page by page. Options are named without their `$`."""
        dollar = {f"${name}" if name in ("filter", "select") else name: text for name, text in query.items()}
        options: Mapping[str, str] | None = {"maxresults": str(_PAGES.get(path, PAGE)), **dollar}
        while options is not None:
            page = (await self.call("GET", path, query=options)).body
            entries = page.get("value")
            if not isinstance(entries, list):
                raise Transient("Azure Batch sent a list that cannot be read")
            for entry in entries:
                if not isinstance(entry, dict):
                    raise Transient("Azure Batch sent a list that cannot be read")
                yield entry
            options = _following(page.get("odata.nextLink"), options)

    async def close(self) -> None:
        """Close the connections to the account."""
        await self._key.close()
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _send(
        self, method: str, path: str, query: Mapping[str, str], body: Any, headers: Mapping[str, str]
    ) -> Answer:
        from aiohttp import ClientError, ClientPayloadError
        from yarl import URL

        from shared.connections.session import distrust

        content = _content(body)
        call_headers = {"Accept": "application/json", **headers}
        call_headers |= {_ID: str(uuid.uuid4()), f"return-{_ID}": "true"}
        if method not in ("GET", "HEAD"):
            # Set even without a body: the HTTP client would add one that is not signed.
            call_headers["Content-Type"] = _JSON
            call_headers["Content-Length"] = str(len(content))
        encoded = quote(path)
        call_headers |= await self._key.headers(method, encoded, query, call_headers)
        url = URL(f"{self._root}{encoded}?{urlencode(query, quote_via=quote)}", encoded=True)
        try:
            async with self._opened().request(
                method, url, data=content or None, headers=call_headers, allow_redirects=False
            ) as answer:
                received = {name.lower(): value for name, value in answer.headers.items()}
                if received.get(_ID, call_headers[_ID]) != call_headers[_ID]:
                    distrust(self._opened(), answer)
                    raise ClientPayloadError("the answer to another call")
                return Answer(answer.status, received, await answer.read())
        except (ClientError, OSError, EOFError, ValueError) as error:
            raise Transient(f"Azure Batch does not answer: {no_answer(error, _PATIENCE)}") from None

    def _opened(self) -> ClientSession:
        from aiohttp import ClientTimeout

        from shared.connections.session import session

        if self._session is None:
            self._session = session(
                service="Azure Batch", timeout=ClientTimeout(total=_PATIENCE, connect=_CONNECT)
            )
        return self._session


def _content(body: Any) -> bytes:
    """JSON of a document; what is encoded stays as it is."""
    if body is None or isinstance(body, bytes):
        return body or b""
    return json.dumps(body, separators=(",", ":")).encode()


def _following(link: Any, before: Mapping[str, str]) -> Mapping[str, str] | None:
    """The query of the next page; None after the last one.

    Only the query is used, so that the token is never sent to an address from an answer.
    """
    if not link:
        return None
    query = dict(parse_qsl(urlsplit(str(link)).query))
    query.pop("api-version", None)
    if query == dict(before):
        raise Transient("Azure Batch sent a list that never ends")
    return query
