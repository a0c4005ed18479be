"""Child processes of the local stack: their lines piped, awaited by a line, stopped by their id."""

import asyncio
import re
import signal
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
_KEPT_LINES = 200
_SHOWN_LINES = 12
_LINE_LIMIT = 1 << 20
#: How many times its patience a child gets that works and is not ready.
_LONGEST = 10


class StartError(RuntimeError):
    """A part of the local stack cannot run here, or did not start; the message says what to do about it."""


class ProcessError(StartError):
    """A child process could not be started, or ended or stalled before it was ready."""


def piped(stream: T | None) -> T:
    """The end of a pipe with which a process was started. Raises ProcessError when it has none."""
    if stream is None:
        raise ProcessError("the process was started without that pipe")
    return stream


class Child:
    """A running child process. Its standard output and error are read as one stream of lines."""

    def __init__(
        self, name: str, process: asyncio.subprocess.Process, on_line: Callable[[str], None]
    ) -> None:
        self.name = name
        self._process = process
        self._on_line = on_line
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._news = asyncio.Event()
        self._pump = asyncio.create_task(self._read(), name=f"lines of {name}")

    @property
    def pid(self) -> int:
        """The process id of the child itself, not of a shell or a wrapper."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, or None while it runs; negative for a signal."""
        return self._process.returncode

    @property
    def recent(self) -> tuple[str, ...]:
        """The last lines that the child wrote."""
        return tuple(self._lines)

    async def line(self, pattern: str, seconds: float = 30.0) -> re.Match[str]:
        """The first line that matches, already written or to come.

        Raises ProcessError, with the child's last lines, when it ends before, and as `patiently` does.
        """
        return await self.patiently(self._search(re.compile(pattern)), seconds)

    async def patiently(self, wait: Coroutine[Any, Any, T], seconds: float) -> T:
        """The result of a wait for what the child does.

        A child that works gets more time: on a busy machine, a start of a second may take a minute.
        Raises ProcessError, with its last lines, when for `seconds` it neither writes a line nor uses the
        processor, and when that is not yet so after ten times as long.
        """
        task = asyncio.create_task(wait)
        try:
            for _ in range(_LONGEST):
                before = self._work()
                if (await asyncio.wait({task}, timeout=seconds))[0]:
                    return task.result()
                if self._work() == before:
                    raise ProcessError(self._story(f"was not ready, and did nothing for {seconds:g} s"))
            raise ProcessError(self._story(f"was not ready within {_LONGEST * seconds:g} s"))
        finally:
            task.cancel()

    async def wait(self) -> int:
        """Wait until the child has ended and all its lines are read; its exit code."""
        await asyncio.shield(self._pump)
        return await self._process.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, e.g. SIGKILL to one that hangs; nothing happens when it has ended."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def stop(self, grace: float) -> int:
        """Ask it to end (SIGTERM), insist after `grace` seconds (SIGKILL); its exit code."""
        try:
            self.signal(signal.SIGTERM)
            async with asyncio.timeout(grace):
                await self._process.wait()
        except TimeoutError:
            pass
        finally:
            self.signal(signal.SIGKILL)
        code = await self._process.wait()
        # A grandchild may still hold the pipe open: what it writes after this is not ours to wait for.
        await asyncio.wait({self._pump}, timeout=0.5)
        self._pump.cancel()
        with suppress(asyncio.CancelledError):
            await self._pump
        return code

    def _work(self) -> tuple[object, ...]:
        """What changes while the child, or what it started, does something: its lines, and processor time."""
        import psutil

        times = list[object]()
        with suppress(psutil.Error):  # it has ended
            itself = psutil.Process(self.pid)
            for one in (itself, *itself.children(recursive=True)):
                with suppress(psutil.Error):  # what it started has ended
                    times.append(one.cpu_times()[:2])
        return self.recent, times

    async def _search(self, pattern: re.Pattern[str]) -> re.Match[str]:
        while True:
            for line in self._lines:
                if match := pattern.search(line):
                    return match
            if self._pump.done():
                await self._process.wait()
                raise ProcessError(self._story(f"ended with exit code {self.returncode} before it was ready"))
            self._news.clear()
            await self._news.wait()

    async def _read(self) -> None:
        stream = piped(self._process.stdout)
        try:
            while True:
                try:
                    raw = await stream.readline()
                except ValueError:  # longer than the limit; the reader has dropped it
                    raw = b"(a line too long to show)\n"
                if not raw:
                    return
                text = raw.decode("utf-8", "replace").rstrip("\r\n")
                self._lines.append(text)
                self._news.set()
                with suppress(
                    OSError
                ):  # a full disk: who reads no further stops the child, whose pipe fills up
                    self._on_line(text)
        finally:
            asyncio.get_running_loop().call_soon(self._news.set)

    def _story(self, what: str) -> str:
        shown = "\n".join(f"  | {line}" for line in list(self._lines)[-_SHOWN_LINES:])
        return f"{self.name} {what}" + (f"; its last lines:\n{shown}" if shown else " and wrote nothing")


@asynccontextmanager
async def child(
    argv: Sequence[str | Path],
    *,
    name: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    on_line: Callable[[str], None] = lambda _: None,
    grace: float = 5.0,
    pass_fds: Sequence[int] = (),
) -> AsyncIterator[Child]:
    """Run a program (`argv`, no shell) for the length of the block; `env` None inherits ours.

    It gets a process group of its own, so that Ctrl-C reaches us alone and children are stopped in order,
    and a standard input that reaches its end when we die.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *map(str, argv),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=dict(env) if env is not None else None,
            cwd=cwd,
            limit=_LINE_LIMIT,
            process_group=0,
            pass_fds=tuple(pass_fds),
        )
    except OSError as error:
        raise ProcessError(f"{name} could not be started: {argv[0]}: {error.strerror}") from error
    running = Child(name, process, on_line)
    try:
        yield running
    finally:
        await running.stop(grace)
