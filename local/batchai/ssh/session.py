"""One session on a node: a shell or a command beside the job that runs there, with or without a terminal."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import struct
import termios
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncssh

from local.nodes.ssh.guests import Entrance

#: The exit code of ssh for what is not the command's own doing.
REFUSED = 255
#: A shell of the node; what is given runs in it.
_SHELL = ("/bin/sh", "-c", 'command -v bash >/dev/null && exec bash "$@"; exec sh "$@"', "sh")
#: Variables of a terminal that a person brings; all others are those of the job.
_OF_TERMINAL = ("LANG", "LC_ALL", "COLORTERM")
_READ = 1 << 16


async def run(process: asyncssh.SSHServerProcess[bytes], entrance: Entrance) -> int:
    """Run what a person asks for, to its exit code; when it is cancelled, nothing of it stays."""
    words = (*_SHELL, "-c", process.command) if process.command else _SHELL
    if not entrance.directory.is_dir():
        process.stderr.write(b"the directory of the job is gone; you are in /\r\n")
        entrance = replace(entrance, directory=Path("/"))
    if process.term_type is None:
        return await _through_pipes(process, words, entrance)
    return await _on_terminal(process, words, entrance)


async def _through_pipes(
    process: asyncssh.SSHServerProcess[bytes], words: tuple[str, ...], entrance: Entrance
) -> int:
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(
        *words,
        env={**entrance.env},
        cwd=entrance.directory,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        start_new_session=True,
    )
    stdin = asyncio.create_task(_feed(process, child))
    outputs = ((child.stdout, process.stdout), (child.stderr, process.stderr))
    try:
        await asyncio.gather(*(_copy(source, target) for source, target in outputs if source))
        return await child.wait()
    finally:
        stdin.cancel()
        await _end(child)


async def _feed(process: asyncssh.SSHServerProcess[bytes], child: asyncio.subprocess.Process) -> None:
    """Pass on what a person sends, and the signals; the end of it is the end of the child's input."""
    if child.stdin is None:
        return
    with suppress(BrokenPipeError, ConnectionResetError):
        while data := await _read(process, child):
            child.stdin.write(data)
            await child.stdin.drain()
        child.stdin.close()


async def _read(
    process: asyncssh.SSHServerProcess[bytes], child: asyncio.subprocess.Process, terminal: int | None = None
) -> bytes:
    """What a person sends next, b"" at the end; signals, and the size of their window, are passed on."""
    while True:
        try:
            return await process.stdin.read(_READ)
        except asyncssh.TerminalSizeChanged as change:
            if terminal is not None:
                _resize(terminal, change.term_size)
        except asyncssh.SignalReceived as received:
            _signal(child, received.signal)
        except asyncssh.BreakReceived:
            continue


async def _copy(source: asyncio.StreamReader, target: asyncssh.SSHWriter[bytes]) -> None:
    while data := await source.read(_READ):
        target.write(data)
        await target.drain()


async def _on_terminal(
    process: asyncssh.SSHServerProcess[bytes], words: tuple[str, ...], entrance: Entrance
) -> int:
    ours, theirs = os.openpty()
    try:
        _resize(ours, process.term_size)
        child = await asyncio.create_subprocess_exec(
            *words,
            env={**entrance.env, **_of_terminal(process.env), "TERM": process.term_type or "dumb"},
            cwd=entrance.directory,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            preexec_fn=lambda: os.login_tty(theirs),
        )
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    stdin = asyncio.create_task(_type(process, child, ours))
    try:
        await _show(ours, process.stdout)
        return await child.wait()
    finally:
        stdin.cancel()
        await _end(child)
        os.close(ours)


async def _show(terminal: int, target: asyncssh.SSHWriter[bytes]) -> None:
    """Pass on what the terminal shows, until its last process has gone."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    os.set_blocking(terminal, False)
    loop.add_reader(terminal, ready.set)
    try:
        while True:
            await ready.wait()
            ready.clear()
            try:
                data = os.read(terminal, _READ)
            except BlockingIOError:
                continue
            except OSError:  # so Linux ends a terminal without processes
                return
            if not data:
                return
            target.write(data)
            await target.drain()
    finally:
        loop.remove_reader(terminal)


async def _type(
    process: asyncssh.SSHServerProcess[bytes], child: asyncio.subprocess.Process, terminal: int
) -> None:
    """Pass on what a person types, and the size of their window."""
    while data := await _read(process, child, terminal):
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(terminal, view) :]
            except BlockingIOError:
                await asyncio.sleep(0.01)
            except OSError:
                return
    with suppress(OSError):
        os.write(terminal, b"\x04")


def _resize(terminal: int, size: tuple[int, ...]) -> None:
    columns, rows, *pixels = size
    with suppress(OSError, struct.error):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, *pixels))


def _of_terminal(env: Mapping[Any, Any]) -> dict[str, str]:
    return {name: str(env[name]) for name in _OF_TERMINAL if name in env}


def _signal(child: asyncio.subprocess.Process, name: str) -> None:
    number = getattr(signal, f"SIG{name}", None)
    if number is not None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, number)


async def _end(child: asyncio.subprocess.Process) -> None:
    """End the child and its group: a person who leaves, or a job that ends, leaves nothing behind."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGHUP)
        os.killpg(child.pid, signal.SIGKILL)
    await child.wait()
