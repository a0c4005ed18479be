"""The emulator's side of the launcher, the process that starts all others, so that they outlive it."""

import asyncio
import contextlib
import itertools
import json
import sys
from pathlib import Path
from typing import Any

from local.process import piped

_PROGRAM = Path(__file__).with_name("process_starter.py")


class Launcher:
    """Starts `process_starter.py` when the first order comes, and again if it has died."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._process: asyncio.subprocess.Process | None = None
        self._starting = asyncio.Lock()
        self._listener: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[None]] = {}

    async def launch(self, task: dict[str, Any]) -> None:
        """Run a task, and return when it is over, or when its outcome can no longer be known.

        Cancelling it ends only the wait. The directory of the task says how the task ended.
        """
        number = next(self._numbers)
        over = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            stdin = piped((await self._running()).stdin)
            with contextlib.suppress(ConnectionError):
                stdin.write(f"{json.dumps([number, task])}\n".encode())
                await stdin.drain()
            await over
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """End the launcher; the tasks that it started go on."""
        if self._process is None or self._listener is None:
            return
        piped(self._process.stdin).close()
        await self._listener

    async def _running(self) -> asyncio.subprocess.Process:
        async with self._starting:
            if self._process is None or self._process.returncode is not None:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-I",
                    "-S",
                    str(_PROGRAM),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    env={},
                    start_new_session=True,
                )
                self._listener = asyncio.create_task(self._listen(self._process), name="launcher")
            return self._process

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        async for line in piped(process.stdout):
            _settle(self._waiting.get(int(line)))
        await process.wait()
        for over in self._waiting.values():
            _settle(over)


def _settle(over: "asyncio.Future[None] | None") -> None:
    if over is not None and not over.done():
        over.set_result(None)
