"""Sends recorded requests byte by byte, and reads the answers as they were recorded."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

#: Seconds until an answer counts as none.
_PATIENCE = 15.0
#: Characters of a body, and of a text in it, that were recorded.
_BODY, _TEXT = 400, 200
#: Headers that the web server adds; Azure's host sends every body in chunks, without its length.
_SERVER = ("date", "server", "transfer-encoding", "content-length", "connection", "keep-alive")


@dataclass(frozen=True)
class Answer:
    """An answer; `status` 0 is a connection that ended, or stayed silent, without one."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: Any = None

    def compared(self, *places: tuple[str, str]) -> dict[str, Any]:
        """What has to be the same on another host; of `places`, the first become the second."""
        headers = sorted([name.lower(), value] for name, value in self.headers if name.lower() not in _SERVER)
        text = json.dumps({"status": self.status, "headers": headers, "body": self.body})
        for one, other in places:
            text = text.replace(one, other)
        result: dict[str, Any] = _cut(json.loads(text))
        return result


def recorded(entry: Any) -> Answer:
    """The answer of Azure's host in answers.json."""
    return Answer(entry["status"], [(name, value) for name, value in entry["headers"]], entry["body"])


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
        async with asyncio.timeout(patience):
            return await _answer(reader, head=head)
    except (TimeoutError, ConnectionError, asyncio.IncompleteReadError):
        return Answer()
    finally:
        writer.close()


async def _answer(reader: asyncio.StreamReader, *, head: bool) -> Answer:
    while True:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
        status = int(lines[0].split()[1])
        if status != 100:
            break
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])]
    named = {name.lower(): value for name, value in headers}
    body = b""
    if not (head or status in (204, 304)):
        if named.get("transfer-encoding") == "chunked":
            while size := int(await reader.readuntil(b"\r\n"), 16):
                body += (await reader.readexactly(size + 2))[:-2]
        elif "content-length" in named:
            body = await reader.readexactly(int(named["content-length"]))
        else:
            body = await reader.read()
    shown = body.decode("utf-8", "backslashreplace")
    try:
        return Answer(status, headers, json.loads(shown))
    except ValueError:
        return Answer(status, headers, shown[:_BODY])


def _cut(node: Any) -> Any:
    """Long texts as they were recorded."""
    if isinstance(node, dict):
        return {name: _cut(value) for name, value in node.items()}
    if isinstance(node, list):
        return [_cut(value) for value in node]
    if isinstance(node, str) and len(node) > _BODY:
        return f"{node[:_TEXT]}… ({len(node)} characters)"
    return node
