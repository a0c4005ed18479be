"""Answers to a webhook that a strict reader of HTTP refuses, and other clients take: what stands in the head.

Each is bytes behind the status line and before the end of the head; or a pair of them and a body.
"""

from __future__ import annotations

Unusual = tuple[bytes, bytes]

_CHUNKED = b"Transfer-Encoding: chunked\r\n"
_EMPTY = b"Content-Length: 0\r\n"

UNUSUAL: dict[str, Unusual] = {
    "a field of 9000 bytes": (b"Content-Security-Policy: " + b"x" * 9000 + b"\r\n" + _EMPTY, b""),
    "a field of 100 kB": (b"X: " + b"x" * 100_000 + b"\r\n" + _EMPTY, b""),
    "a field name of 9000 bytes": (b"X" * 9000 + b": y\r\n" + _EMPTY, b""),
    "150 fields": (b"".join(b"X-%d: y\r\n" % number for number in range(150)) + _EMPTY, b""),
    "5000 fields": (b"X: y\r\n" * 5000 + _EMPTY, b""),
    "100 cookies": (b"Set-Cookie: a=" + b"b" * 900 + b"; Path=/\r\n" + b"Set-Cookie: c=d\r\n" * 150, b""),
    "chunks and a length": (_CHUNKED + b"Content-Length: 2\r\n", b"2\r\nok\r\n0\r\n\r\n"),
    "a length and chunks": (b"Content-Length: 2\r\n" + _CHUNKED, b"2\r\nok\r\n0\r\n\r\n"),
    "a length twice": (b"Content-Length: 2\r\nContent-Length: 2\r\n", b"ok"),
    "a length twice in a list": (b"Content-Length: 2, 2\r\n", b"ok"),
    "two lengths": (b"Content-Length: 2\r\nContent-Length: 3\r\n", b"ok!"),
    "a negative length": (b"Content-Length: -1\r\n", b""),
    "an empty length": (b"Content-Length:\r\n", b""),
    "a huge length": (b"Content-Length: " + b"9" * 40 + b"\r\n", b""),
    "a signed length": (b"Content-Length: +2\r\n", b"ok"),
    "no length": (b"Content-Type: text/plain\r\n", b"OK"),
    "chunks twice": (_CHUNKED + _CHUNKED, b"2\r\nok\r\n0\r\n\r\n"),
    "an unknown coding": (b"Transfer-Encoding: identity\r\n", b"ok"),
    "chunks that are none": (_CHUNKED, b"zz\r\nok\r\n"),
    "more than its length": (b"Content-Length: 2\r\n", b"okHTTP/1.1 410 Gone\r\n\r\n"),
    "less than its length": (b"Content-Length: 2000\r\n", b"ok"),
    "a compression that is none": (b"Content-Encoding: gzip\r\n", b"ok"),
    "a NUL": (b"X: \x00\r\n" + _EMPTY, b""),
    "a carriage return alone": (b"X: a\rb\r\n" + _EMPTY, b""),
    "line feeds alone": (b"X: a\n" + _EMPTY, b""),
    "Latin letters": ("X: é\r\n".encode("latin-1") + _EMPTY + b"Connection: close\r\n", b""),
    "letters in a name": ("Xé: a\r\n".encode() + _EMPTY, b""),
    "a field without a colon": (b"nonsense\r\n" + _EMPTY, b""),
    "a field without a name": (b": nothing\r\n" + _EMPTY, b""),
    "a space before the colon": (b"Content-Length : 0\r\n", b""),
    "a space before the first field": (b" X: y\r\n" + _EMPTY, b""),
    "a field that goes on": (b"X: a\r\n b\r\n" + _EMPTY, b""),
    "an upgrade": (b"Connection: upgrade\r\nUpgrade: websocket\r\n", b""),
}


def answer(status: int, unusual: Unusual, before: bytes = b"") -> bytes:
    """The whole answer; `before` stands behind what is unusual in its head, if fields can."""
    fields, body = unusual
    return b"HTTP/1.1 %d X\r\n" % status + fields + before + b"\r\n" + body
