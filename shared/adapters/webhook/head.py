"""The head of a receiver's answer, read leniently: its status line decides, and nothing behind it does. Pure.

A general client of HTTP refuses an answer with a long field, with many fields or with two lengths. Here that
would make a failure of an event that the receiver has taken. Leniency never guesses where an answer ends:
after anything out of the ordinary, `framing` is None and the connection serves no second request.
"""

from __future__ import annotations

import re

#: Bytes of an answer before its body, with the interim answers (1xx) before it: no more is read.
LARGEST = 256 * 1024
#: Characters of a value that is considered, and how often a field may stand in the head. A date has 29.
_LONGEST_VALUE, _MOST_VALUES = 100, 8

#: Every status line that curl or Python's http.client takes, with the status that they read: in any case,
#: with spaces around it, without a minor version. `ICY` is that of Shoutcast.
_STATUS = re.compile(
    rb"[ \t]*(?:(?i:HTTP)/[ \t]*[0-9](?:\.[0-9]{1,2})?|ICY)[ \t]+\+?0*(?P<status>[1-9][0-9]{2})(?![0-9]).*",
    re.DOTALL,
)
#: The one whose connection may serve a second request.
_PLAIN_STATUS = re.compile(rb"HTTP/1\.1 [1-9][0-9]{2}(?: [\t\x20-\x7e\x80-\xff]*)?\r")
_STARTS = (b"HTTP/", b"ICY ")
#: A field as the specification writes it, so that every reader finds the same fields in the head.
_PLAIN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r")
_LENGTH = re.compile(rb"[0-9]{1,15}")
_NO_BODY = frozenset({204, 304})
_CONNECTION, _LENGTHS, _CODINGS, _RETRY = (
    b"connection",
    b"content-length",
    b"transfer-encoding",
    b"retry-after",
)


class Head:
    """The head of the answer to one request, as far as it has arrived.

    `status` and `retry_after` are those of the final answer. `over`: the head is complete, or no more of it
    is read; then what has no status is not an answer.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        self.over = False
        #: whether the request was sent over a kept connection
        self.reused = False
        self._size = 0
        self._held = bytearray()
        self._searched = 0
        self._begin()

    def feed(self, data: bytes) -> bytes | None:
        """Read on. Returns the bytes behind the head, or None before its end."""
        self._held += data
        self._size += len(data)
        while not self.over and (line := self._next_line()) is not None:
            if self._begun:
                self._read_field(line)
            elif line.strip(b"\r"):
                self._read_status(line)
        if self.over:
            return bytes(self._held)
        start = bytes(self._held.lstrip(b"\r\n\t ")[:5]).upper()
        strange = not self._begun and not any(one.startswith(start[: len(one)]) for one in _STARTS)
        if strange or self._size >= LARGEST:
            self.cut()
            return b""
        return None

    def cut(self) -> None:
        """The end of what arrives, or of what is read: what is known of the answer is the answer."""
        if self.over:
            return
        if not self._begun and b" " in self._held:
            self._read_status(bytes(self._held.lstrip(b"\r\n")))
        self.over, self._plain = True, False
        self._held.clear()

    @property
    def retry_after(self) -> str | None:
        """The first value of `Retry-After` that may be one."""
        usable = (value for value in self._fields[_RETRY] if value.isascii())
        return next((value.decode() for value in usable if 0 < len(value) <= _LONGEST_VALUE), None)

    @property
    def framing(self) -> bytes | None:
        """The field that says where the body ends, or None if the connection must end with this answer."""
        lengths, codings = self._fields[_LENGTHS], self._fields[_CODINGS]
        tokens = b",".join(self._fields[_CONNECTION]).lower().split(b",")
        if not self._plain or b"close" in (token.strip() for token in tokens):
            return None
        if self.status in _NO_BODY:
            return b"Content-Length: 0\r\n" if not codings and lengths in ([], [b"0"]) else None
        if not lengths and [coding.lower() for coding in codings] == [b"chunked"]:
            return b"Transfer-Encoding: chunked\r\n"
        if not codings and len(lengths) == 1 and _LENGTH.fullmatch(lengths[0]):
            return b"Content-Length: " + lengths[0] + b"\r\n"
        return None

    def _begin(self) -> None:
        self._begun, self._plain = False, True
        self._fields: dict[bytes, list[bytes]] = {
            name: [] for name in (_CONNECTION, _LENGTHS, _CODINGS, _RETRY)
        }
        self._last: list[bytes] | None = None

    def _next_line(self) -> bytes | None:
        """The next line without its line feed, or None before the whole of it has arrived."""
        end = self._held.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._held)
            return None
        line = bytes(self._held[:end])
        del self._held[: end + 1]
        self._searched = 0
        return line

    def _read_status(self, line: bytes) -> None:
        match = _STATUS.fullmatch(line)
        if match is None:
            self.over, self._plain = True, False
            return
        self._begun = True
        status = int(match["status"])
        # 101 is final: the receiver speaks another protocol from here on.
        self.status = None if status < 200 and status != 101 else status
        self._plain = _PLAIN_STATUS.fullmatch(line) is not None and status != 101

    def _read_field(self, line: bytes) -> None:
        if not line.strip(b"\r"):
            self._plain = self._plain and line == b"\r"
            self.over = self.status is not None
            if not self.over:  # an interim answer, which says nothing
                self._begin()
            return
        self._plain = self._plain and _PLAIN.fullmatch(line) is not None
        before = b""
        if line[:1] not in (b" ", b"\t"):
            name, _, line = line.partition(b":")
            self._last = self._fields.get(name.strip().lower())
        elif self._last:  # the field of the line before goes on
            before = self._last.pop() + b" "
        if self._last is None:
            return
        value = (before + line.strip()).strip()[
            : _LONGEST_VALUE + 1
        ]  # still too long, so that it is not used
        if len(value) > _LONGEST_VALUE or len(self._last) == _MOST_VALUES:
            self._plain = False
        if len(self._last) < _MOST_VALUES:
            self._last.append(value)
