"""How an answer begins and ends on its connection, as Azure's web server frames it, contradictions included.

Source: Kestrel's HttpProtocol. An answer has no length, but an app's own; what contradicts its body goes out
all the same, and the connection is closed where a client could read no other answer behind it.
"""

from aiohttp import HttpVersion11, web
from aiohttp.abc import AbstractStreamWriter

#: Statuses without a body.
_BARE = (204, 205, 304)
_LENGTH, _CODING = "Content-Length", "Transfer-Encoding"


class Verbatim(web.Response):
    """An answer that goes out byte by byte as it is here."""

    def __init__(self, answer: web.Response, content: bytes, *, closes: bool) -> None:
        super().__init__(status=answer.status, headers=answer.headers)
        self._content = content
        self._closes = closes

    @property
    def keep_alive(self) -> bool | None:
        """Whether the connection takes another request."""
        return not self._closes

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Write all of it."""
        lines = [
            f"HTTP/1.1 {self.status} {self.reason}",
            *(f"{n}: {text}" for n, text in self.headers.items()),
        ]
        if request.transport is not None:
            request.transport.write("\r\n".join([*lines, "", ""]).encode() + self._content)
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        """It has been written."""


def framed(answer: web.Response, request: web.BaseRequest) -> web.Response:
    """The answer of a function as it is sent: in chunks, or as its own headers say."""
    content = answer.body if isinstance(answer.body, bytes) else b""
    own, coding = answer.headers.get(_LENGTH), answer.headers.get(_CODING)
    if request.method == "HEAD" or answer.status in _BARE:
        return _without_body(answer, content, request)
    if coding is not None:  # the body goes out as it is, and is not in this coding
        return Verbatim(answer, content, closes=not coding.lower().endswith("chunked"))
    if own is not None:
        return _of_length(answer, content, own)
    if content and request.version < HttpVersion11:
        return _to_old_client(answer, content)
    if content:
        answer.enable_chunked_encoding()
    return answer


def _to_old_client(answer: web.Response, content: bytes) -> web.Response:
    """It knows no chunks: the connection ends with the body."""
    answer.headers["Connection"] = "close"
    return Verbatim(answer, content, closes=True)


def _without_body(answer: web.Response, content: bytes, request: web.BaseRequest) -> web.Response:
    answer.headers.pop(_CODING, None)
    if request.method == "HEAD":
        if content and _LENGTH not in answer.headers:
            if request.version < HttpVersion11:
                return _to_old_client(answer, b"")
            answer.enable_chunked_encoding()  # so that no length is named
        return answer
    if not content:
        return answer
    if answer.status == 205:
        answer.headers[_LENGTH] = "0"
    return Verbatim(answer, b"", closes=True)


def _of_length(answer: web.Response, content: bytes, own: str) -> web.Response:
    """An answer with a length of the app's own."""
    length = int(own) if own.isascii() and own.isdigit() else -1
    if length == len(content):
        return answer
    if length > len(content) > 0:
        return Verbatim(answer, content, closes=True)
    refused = web.Response(status=500)
    if 0 <= length < len(content):
        refused.force_close()
    return refused


async def says_nothing(request: web.BaseRequest) -> None:
    """What `Expect` gets before a function is chosen: nothing."""


async def continues(request: web.BaseRequest) -> None:
    """Ask a client that waits for it to send its body: a function takes it."""
    expected = request.headers.get("Expect", "").lower() == "100-continue"
    if expected and request.version >= HttpVersion11 and request.transport is not None:
        request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
