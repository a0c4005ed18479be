"""One Batch account over HTTP: its api-version, our signature, pages of lists. aiohttp is imported lazily.

What was not answered has an unknown outcome; every call of ours may be repeated.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from shared.core.errors import Transient
from shared.engines.batch.wire.errors import code_of, failure
from shared.engines.batch.wire.sign import Key

if TYPE_CHECKING:
    from aiohttp import ClientSession

API = "2024-07-01.20.0"
#: Seconds that a call may take, and to connect.
_PATIENCE, _CONNECT = 30.0, 5.0
#: Entries of a page; the service gives no more.
PAGE = 1000
_JSON = "application/json; odata=minimalmetadata; charset=utf-8"


@dataclass(frozen=True)
class Answer:
    """What came back; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def body(self) -> Mapping[str, Any]:
        """The JSON object; an empty one where there is none."""
        try:
            document = json.loads(self.content)
        except ValueError:
            return {}
        return document if isinstance(document, dict) else {}

    @property
    def document(self) -> Mapping[str, Any]:
        """The JSON object that has to be there. Raises Transient, as for the page of a proxy."""
        if not self.body:
            raise Transient("Azure Batch sent an answer that cannot be read")
        return self.body

    @property
    def code(self) -> str:
        """The code of an error; "" of a success."""
        return code_of(self.body) if self.status >= 400 else ""


class BatchClient:
    """Calls to one account. They raise what the service's error means, Transient without an answer."""

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
        """One call; `path` begins with a slash, not encoded. Errors to `accept`, by code, are answers."""
        answer = await self._send(method, path, {**(query or {}), "api-version": API}, body, headers or {})
        if answer.status >= 400 and answer.code not in accept:
            raise failure(answer.status, answer.body)
        return answer

    async def listed(self, path: str, **query: str) -> AsyncIterator[Mapping[str, Any]]:
        """The entries of a list, page after page; options stand without their `$`."""
        dollar = {f"${name}" if name in ("filter", "select") else name: text for name, text in query.items()}
        options: Mapping[str, str] | None = {"maxresults": str(PAGE), **dollar}
        while options is not None:
            page = (await self.call("GET", path, query=options)).body
            entries = page.get("value")
            if not isinstance(entries, list):
                raise Transient("Azure Batch sent a list that cannot be read")
            for entry in entries:
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
        from aiohttp import ClientError
        from yarl import URL

        content = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
        call_headers = {"Accept": "application/json", **headers}
        if method not in ("GET", "HEAD"):
            # Also without a body: what the HTTP client would add by itself would not be signed.
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
                return Answer(answer.status, received, await answer.read())
        except (ClientError, OSError, EOFError, ValueError) as error:
            raise Transient(f"Azure Batch does not answer: {type(error).__name__}") from None

    def _opened(self) -> ClientSession:
        from aiohttp import ClientSession, ClientTimeout

        if self._session is None:
            self._session = ClientSession(timeout=ClientTimeout(total=_PATIENCE, connect=_CONNECT))
        return self._session


def _following(link: Any, before: Mapping[str, str]) -> Mapping[str, str] | None:
    """The query of the next page; None after the last one.

    Only the query is taken from it: our token goes to no address that an answer names.
    """
    if not link:
        return None
    query = dict(parse_qsl(urlsplit(str(link)).query))
    query.pop("api-version", None)
    if query == dict(before):
        raise Transient("Azure Batch sent a list that never ends")
    return query
