"""The processes of a container: started in namespaces of their own, and ended with all that they started."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from local.process import piped

_PROGRAM = Path(__file__).with_name("container.py")
#: They end with us, however we end; and all that is in them ends with their first process.
_NAMESPACES = ("--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")
#: For a user who is not root: who is root only there.
_OF_A_USER = ("--user", "--map-root-user")
_SIGNALLED = 128


class ContainerProcess:
    """One container that was started."""

    def __init__(self, process: asyncio.subprocess.Process, order: Mapping[str, Any]) -> None:
        self._process = process
        self.order = order

    @property
    def first(self) -> int | None:
        """Its first process, the only child of the one that made its namespaces; None once it has ended."""
        pid = self._process.pid
        with contextlib.suppress(OSError, IndexError):
            return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        return None

    @classmethod
    async def start(cls, order: Mapping[str, Any], log: Path) -> ContainerProcess:
        """Start it; `order` is what `container.py` reads. What it writes goes into `log`.

        When this returns, it is in its root, and can be asked to end.
        """
        own = () if os.geteuid() == 0 else _OF_A_USER
        reader, writer = os.pipe()
        with log.open("ab") as out, os.fdopen(reader, "rb") as ready:
            process = await asyncio.create_subprocess_exec(
                *("setpriv", "--pdeathsig", "KILL", "unshare", *own, *_NAMESPACES),
                *(sys.executable, "-I", "-S", str(_PROGRAM), str(writer)),
                stdin=asyncio.subprocess.PIPE,
                stdout=out,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(writer,),
            )
            os.close(writer)
            await asyncio.to_thread(ready.read, 1)  # one byte, or none where the process has ended
            with contextlib.suppress(ConnectionError):
                stdin = piped(process.stdin)
                stdin.write(json.dumps(order).encode())
                await stdin.drain()
                stdin.close()
            await asyncio.to_thread(ready.read, 1)
        return cls(process, order)

    async def wait(self) -> int:
        """The exit code; that of a signal as a shell has it."""
        code = await self._process.wait()
        return _SIGNALLED - code if code < 0 else code

    async def stop(self, grace: float) -> int:
        """Ask the first process to end; end all of it after `grace` seconds. The exit code."""
        self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(grace):
                await self._process.wait()
        except TimeoutError:
            self._signal(signal.SIGKILL)
            await self._process.wait()  # `unshare` says 1 for that signal
            return _SIGNALLED + signal.SIGKILL
        return await self.wait()

    def _signal(self, number: signal.Signals) -> None:
        """To the first process, or to the one that makes its namespaces."""
        first = self.first
        with contextlib.suppress(ProcessLookupError):
            if first is not None:
                os.kill(first, number)
                return
        if number == signal.SIGKILL:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
