"""The worker processes of a host: started, called, restarted when they die, killed when a function hangs."""

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from local.host.worker.contract import Function, Invocation, LoadError, Result, RuntimeName
from local.host.worker.deaths import Deaths
from local.host.worker.wire import encode, function_from_json, invocation_to_json, receive, result_from_json
from local.process import Child, ProcessError, child

_log = logging.getLogger("Host.worker")
_app_log = logging.getLogger("app")

#: The working directory is off the path; the host's own root goes last until the worker takes it off.
_BOOT = (
    "import sys; del sys.path[0]; sys.path.append(sys.argv.pop(1)); sys.argv[0] = 'worker'; import runpy; "
    "runpy.run_module('local.host.worker.worker', run_name='__main__')"
)
_ROOT = str(Path(__file__).resolve().parents[3])
_SLOWEST_RESTART = 10.0
#: Seconds without progress after which loading an app has failed.
_LOAD_PATIENCE = 60.0


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """Of a worker process. In seconds: `timeout` of each call, and `orphan`, its life without a host."""

    app: Path
    runtime: RuntimeName
    environment: Mapping[str, str]
    timeout: float | None
    orphan: float = 0.0
    python: str = sys.executable


class _Launch(NamedTuple):
    """A new process: its messages, and the functions of the app that it has loaded."""

    reader: asyncio.StreamReader
    functions: list[Function]


class WorkerPool:
    """A runtime made of worker processes; calls go to the one with the fewest in progress."""

    def __init__(self, options: WorkerOptions, size: int) -> None:
        self._deaths = Deaths(size)
        self._slots = [_Slot(options, number + 1, self._deaths) for number in range(size)]

    @property
    def broken(self) -> asyncio.Event:
        """Set once workers have died so often that the host has to end."""
        return self._deaths.too_many

    async def start(self) -> list[Function]:
        """Start all workers; raises LoadError when they cannot load the app."""
        try:
            async with asyncio.TaskGroup() as starts:  # one fails: the others leave no process behind
                tasks = [starts.create_task(slot.start()) for slot in self._slots]
        except ExceptionGroup as errors:
            await self.stop()
            raise errors.exceptions[0] from None
        return tasks[0].result()

    async def invoke(self, call: Invocation) -> Result:
        """Run a function in a worker; a worker that dies or hangs is a failed result."""
        ready = [slot for slot in self._slots if slot.ready.is_set()] or self._slots
        return await min(ready, key=lambda slot: slot.load).invoke(call)

    async def stop(self) -> None:
        """End all workers, even busy ones."""
        await asyncio.gather(*(slot.stop() for slot in self._slots))


class _Worker(NamedTuple):
    """A worker process, and the writer of its messages."""

    process: Child
    writer: asyncio.StreamWriter


class _Slot:
    """One worker process after the other."""

    def __init__(self, options: WorkerOptions, number: int, deaths: Deaths) -> None:
        self.ready = asyncio.Event()
        self._deaths = deaths
        self._killed = False
        self._options = options
        self._name = f"worker {number}"
        self._calls: dict[str, asyncio.Future[Result]] = {}
        self._waiting = 0
        self._spawned: _Worker | None = None
        self._task: asyncio.Task[None] | None = None
        self._crashes = 0

    @property
    def load(self) -> int:
        """The number of calls in progress or waiting for this worker."""
        return len(self._calls) + self._waiting

    async def start(self) -> list[Function]:
        """Start the first process and keep one running from then on."""
        stack = AsyncExitStack()
        try:
            reader, functions = await self._spawn(stack)
        except BaseException:
            await stack.aclose()
            raise
        self._task = asyncio.create_task(self._keep(stack, reader), name=self._name)
        return functions

    async def invoke(self, call: Invocation) -> Result:
        """Send a call and wait for its answer, functionTimeout at most; then the process is killed."""
        self._waiting += 1
        try:
            await self.ready.wait()
        finally:
            self._waiting -= 1
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._calls[call.id] = answer
        try:
            self._worker.writer.write(encode(invocation_to_json(call)))
            async with asyncio.timeout(self._options.timeout):
                return await answer
        except TimeoutError:
            self._calls.pop(call.id, None)
            _log.error("%s is killed: a function ran longer than functionTimeout", self._name)
            self._kill()
            return Result(error=f"timed out after functionTimeout, {self._options.timeout:g} s")
        finally:
            self._calls.pop(call.id, None)

    async def stop(self) -> None:
        """End the process that runs now, if one does."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        for answer in self._calls.values():
            if not answer.done():
                answer.set_result(Result(error="the host stopped during the invocation"))

    async def _keep(self, stack: AsyncExitStack, reader: asyncio.StreamReader) -> None:
        while True:
            async with stack:
                self.ready.set()
                await self._read(reader)
                self.ready.clear()
                code = await self._exit_code()
                if not self._killed and not self._deaths.add():
                    _log.error("%s is not restarted, and the host ends: it died too often", self._name)
                    return  # what was in progress stays unanswered
                self._killed = False
                self._fail_calls(code)
            while True:
                delay = min(0.05 * 2**self._crashes, _SLOWEST_RESTART) if self._crashes else 0.0
                self._crashes += 1
                await asyncio.sleep(delay)
                stack = AsyncExitStack()
                try:
                    reader = (await self._spawn(stack)).reader
                    break
                except LoadError as error:
                    await stack.aclose()
                    _log.error("%s could not be restarted: %s", self._name, error)
                except BaseException:
                    await stack.aclose()
                    raise
            _log.warning("%s was restarted (pid %d)", self._name, self._worker.process.pid)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while (document := await receive(reader)) is not None:
            self._crashes = 0
            answer = self._calls.get(document["id"])
            if answer is not None and not answer.done():
                answer.set_result(result_from_json(document["result"]))

    async def _exit_code(self) -> int | str:
        code: int | str = "none"  # it closed the socket and lives on; the end of the block stops it
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                code = await self._worker.process.wait()
        _log.warning(
            "%s ended (exit code %s) with %d invocations in progress", self._name, code, len(self._calls)
        )
        return code

    def _fail_calls(self, code: int | str) -> None:
        for answer in self._calls.values():
            if not answer.done():
                answer.set_result(
                    Result(error=f"the worker process ended (exit code {code}) during the invocation")
                )

    async def _spawn(self, stack: AsyncExitStack) -> _Launch:
        options, (ours, theirs) = self._options, socket.socketpair()
        boot = [options.python, "-u", "-c", _BOOT, _ROOT, str(theirs.fileno())]
        argv = [*boot, options.runtime, str(options.app), str(options.orphan)]
        with theirs:
            process = await stack.enter_async_context(
                child(
                    argv,
                    name=self._name,
                    env=options.environment,
                    cwd=options.app,
                    on_line=_app_log.info,
                    grace=1.0,
                    pass_fds=(theirs.fileno(),),
                )
            )
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        stack.callback(writer.close)
        self._spawned = _Worker(process, writer)
        return _Launch(reader, await self._loaded(reader))

    async def _loaded(self, reader: asyncio.StreamReader) -> list[Function]:
        """The functions of the app, which the new process reports first. Raises LoadError."""
        try:
            first = await self._worker.process.patiently(receive(reader), _LOAD_PATIENCE)
        except ProcessError as error:
            raise LoadError(f"the app did not load: {error}") from None
        if first is None:
            code = await self._worker.process.wait()
            raise LoadError(
                f"the worker process ended (exit code {code}) while it loaded the app; see its lines"
            )
        if "refused" in first:
            raise LoadError(first["refused"], first["stack"])
        return [function_from_json(f) for f in first["functions"]]

    @property
    def _worker(self) -> _Worker:
        """The current process, or the last one. Raises RuntimeError before `start`."""
        if self._spawned is None:
            raise RuntimeError(f"{self._name} was not started")
        return self._spawned

    def _kill(self) -> None:
        self._killed = True
        self.ready.clear()
        self._worker.process.signal(signal.SIGKILL)
