"""A debugger of Python, as an editor has it: the Debug Adapter Protocol over one connection."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.acceptance.door import PATIENCE, eventually


class Debugger:
    """Attached to one process for the length of the block."""

    thread: int

    def __init__(self, port: int) -> None:
        self._port = port
        self._count = 0
        self._events: list[dict[str, Any]] = []

    async def __aenter__(self) -> Debugger:
        await eventually(self._greets, "the process to listen")
        return self

    async def _greets(self) -> bool | None:
        """True once the process answers at the other end of the port, which may be open before."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            await self.ask("initialize", adapterID="debugpy", pathFormat="path")
        except (ConnectionError, asyncio.IncompleteReadError):
            self._writer.close()
            return None
        return True

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def attach(self, configuration: dict[str, Any], file: Path, line: int) -> None:
        """Attach as an editor does by that configuration, and wait until a line is reached."""
        attaching = self._send("attach", configuration)
        await self._event("initialized")
        points = [{"line": line}]
        answer = await self.ask("setBreakpoints", source={"path": str(file)}, breakpoints=points)
        assert answer["breakpoints"], answer
        await self.ask("configurationDone")
        await self._answer(attaching)
        self.thread = (await self._event("stopped"))["threadId"]

    async def value(self, expression: str) -> str:
        """What an expression is where the process stands."""
        trace = await self.ask("stackTrace", threadId=self.thread)
        answer = await self.ask("evaluate", expression=expression, frameId=trace["stackFrames"][0]["id"])
        return str(answer["result"])

    async def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """The answer to a request, which has to succeed."""
        return await self._answer(self._send(command, arguments))

    def _send(self, command: str, arguments: dict[str, Any]) -> int:
        self._count += 1
        message = {"seq": self._count, "type": "request", "command": command, "arguments": arguments}
        text = json.dumps(message).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        return self._count

    async def _answer(self, number: int) -> dict[str, Any]:
        while (message := await self._next()).get("request_seq") != number:
            if message["type"] == "event":
                self._events.append(message)
        assert message["success"], message
        return dict(message.get("body") or {})

    async def _event(self, name: str) -> dict[str, Any]:
        while True:
            for message in self._events:
                if message["event"] == name:
                    self._events.remove(message)
                    return dict(message.get("body") or {})
            message = await self._next()
            if message["type"] == "event":
                self._events.append(message)

    async def _next(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            head = await self._reader.readuntil(b"\r\n\r\n")
            length = int(head.split(b"Content-Length:")[1].split()[0])
            return dict(json.loads(await self._reader.readexactly(length)))
