"""The stack of these tests with its app on another host than the project's own, which a command starts.

    SLIPWAY_HOST_COMMAND='cp {settings} local.settings.json && exec func start --port {port}' \\
        .venv/bin/python -m pytest tests/acceptance/test_doors.py

The command runs by `sh` at the root of the clone. {port} is where it has to listen, {settings} the file with
the settings of the app, {python} this Python. The nightly workflow gives it Azure Functions Core Tools.
"""

from __future__ import annotations

import os
import shlex
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import aiohttp

from local.process import Child, child
from local.stack import Options, Provision, Stack, stack
from tests.acceptance.door import eventually

ROOT = Path(__file__).resolve().parents[3]
COMMAND = "SLIPWAY_HOST_COMMAND"
#: Settings of the stack come by its file, not from the shell of the tests.
_NOT_INHERITED = ("SLIPWAY_", "AZUREWEBJOBS", "FUNCTIONS_", "LOCAL_HOST_")


@asynccontextmanager
async def stack_on(options: Options, provision: Provision, command: str) -> AsyncIterator[Stack]:
    """The stack; its app is ready on the host of the command."""
    ports = replace(options.ports, host=_free_port())
    async with stack(replace(options, app=None, ports=ports), provision) as running:
        line = filled(command, options.data / "local.settings.json", ports.host)
        environment = {
            name: value for name, value in os.environ.items() if not name.upper().startswith(_NOT_INHERITED)
        }
        with (running.logs / "host.log").open("a", encoding="utf-8") as log:

            def write(line: str) -> None:
                log.write(line + "\n")

            async with child(
                ["sh", "-c", line],
                name="the other host",
                env=environment,
                cwd=ROOT,
                on_line=write,
            ) as process:
                await _ready(running.host_url, process)
                yield replace(running, processes=(*running.processes, process))


def filled(command: str, settings: Path, port: int) -> str:
    """The command with its places filled in."""
    return command.format(settings=shlex.quote(str(settings)), port=port, python=shlex.quote(sys.executable))


async def _ready(url: str, process: Child) -> None:
    async def healthy() -> bool | None:
        assert process.returncode is None, f"the other host ended: {process.recent}"
        try:
            async with aiohttp.ClientSession() as http, http.get(f"{url}/api/health") as answer:
                return True if answer.status == 200 else None
        except aiohttp.ClientError:
            return None

    await eventually(healthy, f"the app at {url}", process.recent)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
