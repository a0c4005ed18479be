"""Runs and provisions the local stack: the common part of `slipway up` and `slipway demo`."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

from local.clusters.registry import CLUSTERS
from local.process import StartError
from local.stack import Options, Stack, stack
from shared.settings import Settings
from slipway.failure import Failure
from slipway.settings import display_path
from slipway.stack.provision import Plan, Step, provision

T = TypeVar("T")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def starts(options: Options) -> str:
    """The first line for the user."""
    cluster = CLUSTERS[options.cluster].words if options.cluster else None
    parts = ["storage", *([cluster] if cluster else []), "a webhook receiver"]
    parts += ["the function app"] if options.app else []
    line = f"starting {', '.join(parts[:-1])} and {parts[-1]}"
    return line if cluster else f"{line}, for clusters that are there"


@asynccontextmanager
async def running(
    options: Options, plan: Plan, provisioned: Callable[[list[Step]], None]
) -> AsyncIterator[Stack]:
    """Run the stack for the length of the block, and report what was created. Raises Failure."""

    async def create(settings: Mapping[str, str]) -> None:
        provisioned([step async for step in provision(Settings(settings), plan)])

    async with AsyncExitStack() as ends:
        try:
            up = await ends.enter_async_context(stack(options, create))
        except StartError as error:
            raise Failure(str(error)) from error
        yield up


async def while_it_runs(stack: Stack, work: Coroutine[Any, Any, T]) -> T:
    """The result of the work. Raises Failure at once if a process of the stack ends by itself before."""
    doing = asyncio.ensure_future(work)
    waits = {asyncio.create_task(process.wait()): process for process in stack.processes}
    try:
        finished, _ = await asyncio.wait({doing, *waits}, return_when=asyncio.FIRST_COMPLETED)
        for task, process in waits.items():
            if task in finished:
                how = f"ended by itself, exit code {process.returncode}"
                raise Failure(f"{process.name} {how}; see {display_path(stack.logs)}")
        return doing.result()
    finally:
        doing.cancel()
        for wait in waits:
            wait.cancel()
        await asyncio.wait({doing})


def run_until_stopped(work: Coroutine[Any, Any, int], *, interrupted: int) -> int:
    """Run to the end and return the result; `interrupted` if Ctrl-C, SIGTERM or a closed terminal cancels it.

    A second signal changes nothing: stopping takes a limited time, and cutting it short would leave children.
    """

    async def guarded() -> int:
        task = asyncio.ensure_future(work)
        stopping = False

        def ask() -> None:
            nonlocal stopping
            if not stopping:
                stopping = True
                task.cancel()

        for number in _SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, ask)
        try:
            return await task
        except asyncio.CancelledError:
            return interrupted

    return asyncio.run(guarded())
