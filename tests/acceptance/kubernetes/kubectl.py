"""kubectl as a person runs it, on the cluster of the tests."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import struct
import termios
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from local.patience import Patience
from local.process import child
from tests.acceptance.kubernetes.jobs import PATIENCE


class Answer(NamedTuple):
    """How it ended, and what it wrote."""

    code: int
    out: bytes
    error: str


async def run(*argv: str, stdin: bytes = b"") -> Answer:
    """Run a program to its end."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe, stderr=pipe)
    out, error = await process.communicate(stdin)
    return Answer(await process.wait(), out, error.decode())


class Kubectl:
    """As the user of a kubeconfig, in one namespace."""

    def __init__(self, kubeconfig: Path, namespace: str) -> None:
        self._argv = ("kubectl", f"--kubeconfig={kubeconfig}", f"--namespace={namespace}")

    async def run(self, *arguments: str, stdin: bytes = b"") -> Answer:
        """Run it to its end."""
        return await run(*self._argv, *arguments, stdin=stdin)

    @asynccontextmanager
    async def forward(self, pod: str, port: int) -> AsyncIterator[int]:
        """The port here that leads to one of a pod, for the length of the block."""
        argv = [*self._argv, "port-forward", f"pod/{pod}", f":{port}", "--address=127.0.0.1"]
        async with child(argv, name="kubectl") as running:
            line = await running.line(r"^Forwarding from 127\.0\.0\.1:(\d+)", seconds=PATIENCE)
            yield int(line.group(1))

    def terminal(self, *arguments: str, rows: int, columns: int) -> AbstractAsyncContextManager[Terminal]:
        """Run it in a terminal for the length of the block."""
        return in_terminal(*self._argv, *arguments, rows=rows, columns=columns)


@asynccontextmanager
async def in_terminal(*argv: str, rows: int, columns: int) -> AsyncIterator[Terminal]:
    """Run a program in a terminal for the length of the block."""
    ours, theirs = pty.openpty()
    terminal = Terminal(ours)
    terminal.resize(rows, columns)
    process = await asyncio.create_subprocess_exec(
        *("setsid", "--ctty", "--wait", *argv), stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    terminal.process = process
    try:
        yield terminal
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(ours)


class Terminal:
    """A person's terminal, in which a program runs."""

    process: asyncio.subprocess.Process

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        os.set_blocking(descriptor, False)
        self._text = ""

    def resize(self, rows: int, columns: int) -> None:
        """Give it a size, as a person who pulls at the window."""
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        """Type it."""
        os.write(self._descriptor, text.encode())

    async def shows(self, pattern: str) -> str:
        """What a pattern finds, once it stands there; what stands before it is forgotten."""
        patience = Patience(PATIENCE)
        while not (match := re.search(pattern, self._text)):
            with suppress(OSError):  # nothing new, or the program has ended
                self._text += os.read(self._descriptor, 1 << 16).decode("utf-8", "replace")
            assert not patience.is_over(self._text), self._text
            await asyncio.sleep(0.02)
        self._text = self._text[match.end() :]
        return match.group()
