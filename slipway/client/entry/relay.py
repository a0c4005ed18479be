"""A port of a running job on this machine, where the tool of its cluster has no forwarding of its own.

Each connection is a program on the node, which connects to the port there and passes bytes on, both ways.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from socket import socket

from slipway.client.entry.run import environment_for, path_of
from slipway.failure import Failure
from slipway.terminal.screen import say

_CHUNK = 1 << 16
#: Seconds that a tool has to end.
_GRACE = 5.0

#: Passes bytes between its own input and output and a port of its machine.
_PYTHON = """
import os, socket, sys, threading
port = int(sys.argv[1])
try:
    there = socket.create_connection(("localhost", port), 10)
except OSError as error:
    sys.stderr.write("slipway: port %d of the job: %s\\n" % (port, error.strerror or error))
    sys.exit(1)
there.settimeout(None)
def send():
    try:
        for data in iter(lambda: os.read(0, 65536), b""):
            there.sendall(data)
        there.shutdown(socket.SHUT_WR)
    except OSError:
        pass
threading.Thread(target=send, daemon=True).start()
try:
    for data in iter(lambda: there.recv(65536), b""):
        while data:
            data = data[os.write(1, data):]
except OSError:
    pass
os._exit(0)
"""
#: The same by bash, where the node has no Python.
_SHELL = """
PATH=${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}
export PATH
if command -v python3 >/dev/null; then exec python3 -I -c "$1" "$2"; fi
exec bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0" 4<&0 || exit 1
cat <&4 >&3 & cat <&3; kill $! 2>/dev/null' "$2"
"""


def relaying(port: int) -> list[str]:
    """The words of the program that connects its input and output with a port of its machine."""
    return ["/bin/sh", "-c", _SHELL, "slipway", _PYTHON, str(port)]


@asynccontextmanager
async def serve(
    listener: socket, words: Sequence[str], prepare: Callable[[], Awaitable[None]] | None = None
) -> AsyncIterator[None]:
    """Serve on that socket: each connection is passed on by its own run of the words. None outlives it.

    `prepare`: called before each; where it raises Failure, that connection ends.
    """
    path_of(words[0])
    open_ones = set[asyncio.Task[None]]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            open_ones.add(task)
            task.add_done_callback(open_ones.discard)
        try:
            if prepare is not None:
                await prepare()
        except Failure as failure:
            say(str(failure))
            writer.close()
            return
        await _pass_on(words, reader, writer)

    server = await asyncio.start_server(answer, sock=listener)
    try:
        yield
    finally:
        server.close()
        for task in open_ones:
            task.cancel()
        if open_ones:
            await asyncio.wait({*open_ones})


async def _pass_on(words: Sequence[str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    pipe = asyncio.subprocess.PIPE
    # A session of its own: Ctrl-C reaches this process alone, which ends the others.
    process = await asyncio.create_subprocess_exec(
        *words, stdin=pipe, stdout=pipe, start_new_session=True, env=environment_for(words[0])
    )
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise ValueError("a pipe is missing")
    sending = asyncio.create_task(_copy(reader, stdin))
    try:
        await _copy(stdout, writer)
    finally:
        sending.cancel()
        writer.close()
        await ended(process)


async def ended(process: asyncio.subprocess.Process) -> None:
    """End a tool: it is asked first, unless this is cancelled."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_GRACE):
            await process.wait()
    except TimeoutError:
        await _killed(process)
    except asyncio.CancelledError:
        await _killed(process)
        raise


async def _killed(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


async def _copy(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
    """Copy to the end; then nothing more comes there."""
    with contextlib.suppress(OSError):
        while data := await source.read(_CHUNK):
            to.write(data)
            await to.drain()
        if to.can_write_eof():
            to.write_eof()
