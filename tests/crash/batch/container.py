"""The crash harness's container of blobs, which nodes and app read and write, and its faults.

The program on the nodes uses it as an object in place of its connection; the app uses it over HTTP.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from xml.sax.saxutils import escape

from aiohttp import web

from shared.engines.node.blobs import Answer
from tests.doubles.server import answering

ACCOUNT, NAME = "acct", "slipway"
#: Blobs per page: few, so that lists have several pages.
_PAGE = 3


class AppFault(StrEnum):
    """What happens to a request of the app, and to the SDK's repetition of it."""

    LOST = "the connection breaks"
    BUSY = "503 ServerBusy"
    INTERNAL = "500 InternalError"
    FORBIDDEN = "403, of a role that is not known everywhere yet"
    GARBAGE = "half of a document"


_STATUS = {AppFault.BUSY: 503, AppFault.INTERNAL: 500, AppFault.FORBIDDEN: 403}


@dataclass
class Container:
    """The blobs, by name. `plan`: number of the app's request → its fault."""

    plan: Mapping[int, AppFault] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    #: the app's requests
    calls: list[str] = field(default_factory=list)
    _repeated: tuple[str, AppFault] | None = None

    def answer(
        self, method: str, name: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> Answer:
        """Carry out a request as the service does, and answer it."""
        if query.get("comp") == "list":
            return self._list(query)
        if method == "PUT":
            if headers.get("If-None-Match") == "*" and name in self.blobs:
                return _error(409, "BlobAlreadyExists")
            self.blobs[name] = body
            return Answer(201, {}, b"")
        if name not in self.blobs:
            return _error(404, "BlobNotFound")
        if method == "DELETE":
            del self.blobs[name]
            return Answer(202, {}, b"")
        return Answer(200, {}, self.blobs[name] if method == "GET" else b"")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Serve it for the length of the block; yields its address."""
        async with answering(self._handle) as url:
            yield f"{url}/{ACCOUNT}/{NAME}"

    def _list(self, query: Mapping[str, str]) -> Answer:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        entries: dict[str, str] = {}
        for name in sorted(one for one in self.blobs if one.startswith(prefix)):
            inside, deeper, _ = name[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
            entry = prefix + inside + delimiter if deeper else name
            entries.setdefault(entry, "BlobPrefix" if deeper else "Blob")
        remaining = [name for name in entries if name >= query.get("marker", "")]
        page, marker = remaining[:_PAGE], "".join(remaining[_PAGE : _PAGE + 1])
        inner = "".join(_entry(entries[name], name) for name in page)
        text = f"<Blobs>{inner}</Blobs><NextMarker>{escape(marker)}</NextMarker>"
        whole = f'<EnumerationResults ContainerName="{NAME}">{text}</EnumerationResults>'
        return Answer(200, {"content-type": "application/xml"}, whole.encode())

    def _fault(self, call: str) -> AppFault | None:
        """The fault of a request. The SDK's immediate repetition fails too, so that the app sees it."""
        repeated, self._repeated = self._repeated, None
        if repeated and repeated[0] == call:
            return repeated[1]
        self.calls.append(call)
        fault = self.plan.get(len(self.calls))
        self._repeated = (call, fault) if fault in (AppFault.LOST, AppFault.BUSY, AppFault.INTERNAL) else None
        return fault

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        name = request.path.removeprefix(f"/{ACCOUNT}/{NAME}").lstrip("/")
        fault = self._fault(f"{request.method} {name or request.query_string}")
        if fault is AppFault.LOST:
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        if fault in _STATUS:
            answer = _error(_STATUS[fault], fault.name)
        else:
            body = await request.read()
            answer = self.answer(request.method, name, dict(request.query), request.headers, body)
        return _response(request, answer, is_cut=fault is AppFault.GARBAGE)


def _response(request: web.Request, answer: Answer, *, is_cut: bool) -> web.Response:
    content = answer.content[: len(answer.content) // 2] if is_cut else answer.content
    headers, status = {"x-ms-blob-type": "BlockBlob", **answer.headers}, answer.status
    if "x-ms-range" in request.headers and status == 200 and not content:
        return web.Response(status=416, headers={"x-ms-error-code": "InvalidRange"})
    if "x-ms-range" in request.headers and status == 200:
        status = 206
        headers["Content-Range"] = f"bytes 0-{len(content) - 1}/{len(content)}"
    return web.Response(status=status, headers=headers, body=content)


def _error(status: int, code: str) -> Answer:
    return Answer(status, {"x-ms-error-code": code}, b"")


def _entry(kind: str, name: str) -> str:
    return f"<{kind}><Name>{escape(name)}</Name><Properties></Properties></{kind}>"
