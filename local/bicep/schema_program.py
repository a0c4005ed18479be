"""Runs the program of `@azure/mcp`, which prints the types of resources: one process for all requests.

It speaks the Model Context Protocol, one JSON object per line. Starting it costs 2 s of processor time, an
answer a tenth of that.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

_COMMAND = ("server", "start", "--mode", "all", "--namespace", "bicepschema", "--read-only")
_TOOL, _PROTOCOL = "bicepschema_get", "2024-11-05"
#: Seconds to wait for the next line, enough for a busy machine.
_PATIENCE = 120.0
_END_PATIENCE = 20.0


class NoTypesError(Exception):
    """The types are not available; the message gives the reason."""


class SchemaProgram:
    """A running program, for as long as the context lasts.

    Its methods raise NoTypesError if it does not answer.
    """

    def __init__(self, program: Path) -> None:
        self._name = program.name
        environment = {**os.environ, "AZURE_MCP_COLLECT_TELEMETRY": "false"}
        try:
            self._process = subprocess.Popen(
                [str(program), *_COMMAND],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise NoTypesError(f"{self._name} does not run: {error}") from error
        self._numbers = count(1)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        try:
            client = {"name": "slipway", "version": "1"}
            started = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client}
            self._answer("initialize", started)
            self._send({"method": "notifications/initialized"})
        except NoTypesError:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def schema(self, resource_type: str) -> str:
        """Its answer about a type such as `Microsoft.Web/sites`: types as JSON, or why it has none."""
        request = {"name": _TOOL, "arguments": {"resource-type": resource_type}}
        answer = self._answer("tools/call", request)
        try:
            return str(answer["result"]["content"][0]["text"])
        except (KeyError, IndexError, TypeError):
            raise NoTypesError(
                f"{self._name} says nothing of {resource_type}: {json.dumps(answer)[:200]}"
            ) from None

    def _read(self, lines: IO[bytes] | None) -> None:
        """Read its lines; an empty one marks its end."""
        if lines is not None:
            with lines:
                for line in lines:
                    self._lines.put(line)
        self._lines.put(b"")

    def _send(self, message: Mapping[str, Any]) -> None:
        text = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        try:
            if self._process.stdin is not None:
                self._process.stdin.write(text.encode())
                self._process.stdin.flush()
        except OSError as error:
            raise NoTypesError(f"{self._name} has ended: {error}") from error

    def _answer(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request; skips unsolicited messages."""
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": params})
        while True:
            try:
                line = self._lines.get(timeout=_PATIENCE)
            except queue.Empty:
                raise NoTypesError(f"{self._name} does not answer in {_PATIENCE:.0f} s") from None
            if not line:
                raise NoTypesError(f"{self._name} ended without an answer to {method}")
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict) and message.get("id") == number:
                return message

    def _end(self) -> None:
        """Close its input, which ends it; if it goes on, stop it."""
        try:
            if self._process.stdin is not None:
                self._process.stdin.close()
        except OSError:
            pass
        try:
            self._process.wait(_END_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(_END_PATIENCE)
