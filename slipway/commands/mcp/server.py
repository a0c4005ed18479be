"""The server: it lists the tools, and runs the command of each that is called, in a process of its own."""

from __future__ import annotations

import asyncio
import errno
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import jsonschema
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as Listed

from shared import __version__
from slipway.commands.mcp.results import answer, error_of
from slipway.commands.mcp.tools import INSTRUCTIONS, TOOLS
from slipway.failure import Failure, Usage

_MOST_OF_A_MESSAGE = 300


def run() -> None:
    """Serve until the client closes standard input."""
    asyncio.run(_serve())


async def _serve() -> None:
    server = Server[Any](
        "slipway",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=_list,
        on_call_tool=_call,
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def _list(_: object, __: object) -> ListToolsResult:
    return ListToolsResult(
        tools=[
            Listed(
                name=name,
                description=tool.about,
                input_schema=tool.schema,
                annotations=ToolAnnotations(read_only_hint=tool.reads),
            )
            for name, tool in TOOLS.items()
        ]
    )


async def _call(_: object, call: CallToolRequestParams) -> CallToolResult:
    """The answer of a tool; an error has the code, text, remedy and retry of `--json`."""
    try:
        process = await _started(await asyncio.to_thread(_words, call.name, call.arguments or {}))
    except Failure as failure:
        return _result({"error": failure.for_programs()})
    try:
        printed = (await process.communicate())[0].decode(errors="replace")
    finally:
        if process.returncode is None:  # the call was cancelled
            with suppress(ProcessLookupError):
                process.kill()
    if (error := error_of(printed)) is not None:
        return _result({"error": error})
    text = answer(process.returncode or 0, printed)
    return CallToolResult(content=[TextContent(text=text)])


async def _started(words: Sequence[str]) -> asyncio.subprocess.Process:
    """The command, as a process of its own. Raises Failure."""
    try:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "slipway.entry", *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError as error:
        raise _failure(error) from error
    except ValueError as error:
        raise Usage("a text has a character that no command line has; leave it out") from error


def _failure(error: OSError) -> Failure:
    """The error of arguments that are too long; any other is one of this machine, and may pass."""
    if error.errno in (errno.E2BIG, errno.ENAMETOOLONG):
        return Usage("the arguments are too long for a command; shorten them")
    failure = Failure(f"the command cannot be started: {error.strerror or error}; try again")
    failure.retry = True
    return failure


def _words(name: str, arguments: Mapping[str, Any]) -> list[str]:
    """The command line of a call. Raises Failure, Usage for arguments that the tool does not have."""
    if name not in TOOLS:
        raise Usage(f"there is no tool {name[:40]!r}; there are {', '.join(TOOLS)}")
    try:
        jsonschema.validate(dict(arguments), TOOLS[name].schema)
    except jsonschema.ValidationError as error:
        place = ".".join(map(str, error.path))
        message = f"{place}: {error.message}" if place else error.message
        raise Usage(f"{message[:_MOST_OF_A_MESSAGE]}; correct the arguments") from error
    try:
        return list(TOOLS[name].words(arguments))
    except OSError as error:
        raise _failure(error) from error


def _result(error: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=json.dumps(error))], is_error=True)
