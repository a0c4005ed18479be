"""The common loop of the emulators' conductors: it reacts to news, and survives full disks and defects."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any

from local.record_file import StoreFullError

_log = logging.getLogger(__name__)
#: Seconds until a failed write, or work that hit a defect, is retried.
AGAIN = 1.0


async def conduct(
    review: Callable[[], datetime | None], news: asyncio.Event, clock: Callable[[], datetime]
) -> None:
    """Look at each news, and when the last look asked for it. Ends by cancellation only."""
    while True:
        # A look may make news itself. To wait for what is there already lets nothing else run.
        await asyncio.sleep(0)
        news.clear()
        try:
            wake = review()
            delay = None if wake is None else max(0.0, (wake - clock()).total_seconds())
        except Exception as error:  # noqa: BLE001 a defect must not stop the emulator
            delay = pause_after(error)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay):
                await news.wait()


async def commit(change: Callable[[], None], is_stopping: Callable[[], bool]) -> None:
    """Have a change of records made, which reads them anew each time that it is tried.

    Given up when the emulator stops: the next one finds nodes in preparation, and processes that have ended.
    """
    while True:
        try:
            return change()
        except StoreFullError:
            if is_stopping():
                return None
            await asyncio.sleep(AGAIN)


def spawn(work: Coroutine[Any, Any, None], among: set[asyncio.Task[None]], name: str | None = None) -> None:
    """Start background work, which is in the set until it ends. A defect of it is logged."""
    task = asyncio.create_task(work, name=name)
    among.add(task)
    task.add_done_callback(among.discard)
    task.add_done_callback(_report)


def pause_after(error: Exception) -> float:
    """Seconds until the next try after an error. A full disk has logged itself."""
    if not isinstance(error, StoreFullError):
        _log.error("a defect of the emulator; it looks again in %g s", AGAIN, exc_info=error)
    return AGAIN


def _report(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()):
        _log.error("a defect of the emulator", exc_info=error)
