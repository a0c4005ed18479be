"""Sends recorded requests byte by byte, and reads the answers as they were recorded."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

#: Seconds until an answer counts as none.
_PATIENCE = 15.0
#: Characters of a body, and of a text in it, that were recorded.
_BODY, _TEXT = 400, 200
#: Headers that change, or name the web server.
_SERVER = ("date", "server")


@dataclass(frozen=True)
class Answer:
    """An answer; `status` 0 is a connection that ended, or stayed silent, without one.

    `ended`: how, where its headers do not say it; `continued`: whether 100 Continue came before it.
    """

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: Any = None
    ended: str = ""
    continued: bool = False

    def compared(self, *places: tuple[str, str]) -> dict[str, Any]:
        """What has to be the same on another host; of `places`, the first become the second."""
        headers = sorted([name.lower(), value] for name, value in self.headers if name.lower() not in _SERVER)
        members = {"status": self.status, "headers": headers, "body": self.body, "ended": self.ended}
        text = json.dumps({**members, "continued": self.continued})
        for one, other in places:
            text = text.replace(one, other)
        result: dict[str, Any] = _cut(json.loads(text))
        return result


def recorded(entry: Any) -> Answer:
    """The answer of Azure's host in answers.json."""
    headers = [(name, value) for name, value in entry["headers"]]
    ended, continued = entry.get("ended", ""), entry.get("continued", False)
    return Answer(entry["status"], headers, entry["body"], ended, continued)


def raw_bytes(part: Any) -> bytes:
    """A part of a request: a text, or a character and how often it comes."""
    text: str = part if isinstance(part, str) else part[0] * part[1]
    return text.encode("latin-1")


async def answer_to(port: int, parts: Sequence[Any], *, head: bool, patience: float = _PATIENCE) -> Answer:
    """Send the parts of a request as they are (a number is a pause), and read its answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            if isinstance(part, float):
                await asyncio.sleep(part)
            else:
                writer.write(raw_bytes(part).replace(b"127.0.0.1:PORT", f"127.0.0.1:{port}".encode()))
        return await _Answering(reader, writer, port, patience).read(head=head)
    finally:
        writer.close()


class _Answering:
    """One answer as it comes; what came of a body before its end did not is kept."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int, patience: float
    ) -> None:
        self._reader, self._writer, self._port, self._patience = reader, writer, port, patience
        self._data = b""
        self._body = b""

    async def read(self, *, head: bool) -> Answer:
        try:
            async with asyncio.timeout(self._patience):
                answer = await self._head()
        except (TimeoutError, ConnectionError, EOFError):
            return Answer()
        ended = "TimeoutError"
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                ended = await self._end_of(answer, head=head)
        shown = (self._body or self._data).decode("utf-8", "backslashreplace")
        try:
            return replace(answer, body=json.loads(shown), ended=ended)
        except ValueError:
            return replace(answer, body=shown[:_BODY], ended=ended)

    async def _head(self) -> Answer:
        continued = False
        while True:
            lines = (await self._until(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            status = int(lines[0].split()[1])
            if status != 100:
                break
            continued = True
        pairs = (line.partition(":") for line in lines[1:])
        return Answer(status, [(name, value.strip()) for name, _, value in pairs], continued=continued)

    async def _end_of(self, answer: Answer, *, head: bool) -> str:
        named = {name.lower(): value for name, value in answer.headers}
        if head or answer.status in (204, 304):
            return await self._next()
        try:
            if named.get("transfer-encoding") == "chunked":
                while size := int(await self._until(b"\r\n"), 16):
                    self._body += (await self._exactly(size + 2))[:-2]
                self._data = b""
                return ""
            if "content-length" in named:
                self._body = await self._exactly(int(named["content-length"]))
                return ""
        except EOFError:
            return "cut off"
        while await self._more():
            pass
        return "until closed"

    async def _next(self) -> str:
        """Whether the connection takes another request, and brings nothing before its answer."""
        self._writer.write(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n\r\n".encode())
        with suppress(ConnectionError):
            while len(self._data) < 5 and await self._more():
                pass
        data, self._data = self._data, b""
        return "kept open" if data.startswith(b"HTTP/") else "extra bytes" if data else "closed"

    async def _until(self, end: bytes) -> bytes:
        while end not in self._data:
            if not await self._more():
                raise EOFError
        part, _, self._data = self._data.partition(end)
        return part

    async def _exactly(self, size: int) -> bytes:
        while len(self._data) < size:
            if not await self._more():
                raise EOFError
        part, self._data = self._data[:size], self._data[size:]
        return part

    async def _more(self) -> bool:
        more = await self._reader.read(1 << 20)
        self._data += more
        return bool(more)


def _cut(node: Any) -> Any:
    """Long texts as they were recorded."""
    if isinstance(node, dict):
        return {name: _cut(value) for name, value in node.items()}
    if isinstance(node, list):
        return [_cut(value) for value in node]
    if isinstance(node, str) and len(node) > _BODY:
        return f"{node[:_TEXT]}… ({len(node)} characters)"
    return node
