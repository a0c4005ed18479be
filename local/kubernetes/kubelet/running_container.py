"""A command in a container that runs: in its namespaces and its root, with its rights and its variables."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import shutil
import struct
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from local.kubernetes.kubelet.carriers import CHUNK
from local.kubernetes.kubelet.channels import Channels, sizes

#: As a runtime of containers says it where a command has a terminal.
_TERMINAL = {"TERM": "xterm"}
_SIGNALLED = 128
#: Commands that run on after their client has gone, as on other nodes.
_running: set[asyncio.Task[int]] = set()


@dataclass(frozen=True)
class RunningContainer:
    """A container that runs: its first process, and the order that started it."""

    first: int
    order: Mapping[str, Any]

    async def run(self, argv: Sequence[str], channels: Channels, *, has_terminal: bool) -> int:
        """Run a command until it ends; its exit code. Raises ConnectionError when the client goes before."""
        pipes = await (_terminal(channels) if has_terminal else _pipes(channels))
        variables = self.order["environment"] | (_TERMINAL if has_terminal else {})
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv(argv, has_terminal=has_terminal),
                env=variables,
                stdin=pipes.ends.stdin,
                stdout=pipes.ends.stdout,
                stderr=pipes.ends.stderr,
            )
        finally:
            for end in set(pipes.ends):
                os.close(end)
        waiting = asyncio.create_task(process.wait())
        _running.add(waiting)
        waiting.add_done_callback(_running.discard)
        try:
            await pipes.carried()
        finally:
            pipes.close()
        code = await waiting
        return _SIGNALLED - code if code < 0 else code

    def _argv(self, argv: Sequence[str], *, has_terminal: bool) -> list[str]:
        order = self.order
        own = [] if order["mayChoose"] else ["--user", "--preserve-credentials"]
        return [
            *(_program("nsenter"), f"--target={self.first}", *own),
            *("--mount", "--uts", "--ipc", "--pid", "--root", "--", *self._rights()),
            *([_program("setsid"), "--ctty"] if has_terminal else []),
            *(_program("env"), "--default-signal", f"--chdir={order['directory'] or '/'}", *argv),
        ]

    def _rights(self) -> list[str]:
        order, options = self.order, []
        if order["mayChoose"]:
            group = order["fsGroup"]
            options += ["--clear-groups" if group is None else f"--groups={group}"]
            options += [] if order["group"] is None else [f"--regid={order['group']}"]
            options += [] if order["user"] is None else [f"--reuid={order['user']}"]
        options += [] if order["mayGain"] else ["--no-new-privs"]
        return [_program("setpriv"), *options, "--"] if options else []


class _Ends(NamedTuple):
    """What the process has."""

    stdin: int
    stdout: int
    stderr: int


class _Pipes:
    """What connects a process with its client."""

    def __init__(self, channels: Channels, ends: _Ends) -> None:
        self._channels = channels
        self.ends = ends
        self._outputs: dict[str, asyncio.StreamReader] = {}
        self._transports: list[asyncio.BaseTransport] = []
        self._feeding: list[asyncio.Task[None]] = []

    async def read(self, descriptor: int, name: str) -> None:
        """What the process writes there goes to the client under a name."""
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        file = os.fdopen(descriptor, "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, file)
        self._transports.append(transport)
        self._outputs[name] = reader

    async def write(self, descriptor: int, *, ends: bool) -> None:
        """What the client writes goes there; `ends`: as does its end."""
        loop = asyncio.get_running_loop()
        file = os.fdopen(descriptor, "wb", buffering=0)
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, file)
        writer = asyncio.StreamWriter(transport, protocol, None, loop)
        self._transports.append(transport)
        self._feeding.append(asyncio.create_task(self._feed(writer, ends=ends)))

    def resize(self, terminal: int) -> None:
        """The terminal gets the size of the client's."""
        self._feeding.append(asyncio.create_task(self._follow(terminal)))

    async def carried(self) -> None:
        """Wait until the process writes no more. Raises ConnectionError when the client is gone."""
        await asyncio.gather(*(self._carry(reader, name) for name, reader in self._outputs.items()))

    def close(self) -> None:
        """Close our ends."""
        for task in self._feeding:
            task.cancel()
        for transport in self._transports:
            transport.close()

    async def _carry(self, reader: asyncio.StreamReader, name: str) -> None:
        with suppress(OSError):  # so a terminal says that its programs have ended
            while data := await reader.read(CHUNK):
                await self._channels.write(name, data)

    async def _feed(self, writer: asyncio.StreamWriter, *, ends: bool) -> None:
        with suppress(ConnectionError):  # the process reads no more
            while data := await self._channels.stdin.read(CHUNK):
                writer.write(data)
                await writer.drain()
        if ends:
            writer.close()

    async def _follow(self, terminal: int) -> None:
        async for rows, columns in sizes(self._channels):
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


async def _pipes(channels: Channels) -> _Pipes:
    stdin, stdout, stderr = os.pipe(), os.pipe(), os.pipe()
    pipes = _Pipes(channels, _Ends(stdin[0], stdout[1], stderr[1]))
    await pipes.write(stdin[1], ends=True)
    await pipes.read(stdout[0], "stdout")
    await pipes.read(stderr[0], "stderr")
    return pipes


async def _terminal(channels: Channels) -> _Pipes:
    ours, theirs = pty.openpty()
    pipes = _Pipes(channels, _Ends(theirs, theirs, theirs))
    await pipes.write(os.dup(ours), ends=False)
    await pipes.read(ours, "stdout")
    pipes.resize(ours)
    return pipes


def _program(name: str) -> str:
    return shutil.which(name) or name
