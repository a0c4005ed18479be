"""Ctrl-C: the work is cancelled, cleans up, and the exit code is the one that was asked for."""

import asyncio
import os
import signal
from collections.abc import Callable

import pytest

from slipway.failure import Failure
from slipway.stack.running import run_until_stopped


def interrupt(number: signal.Signals) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_work_after_its_cleaning(number: signal.Signals) -> None:
    cleaned = []

    async def work() -> int:
        try:
            interrupt(number)()
            await asyncio.Event().wait()
        finally:
            interrupt(number)()  # an impatient second one
            await asyncio.sleep(0)
            cleaned.append(True)
        return 1

    assert run_until_stopped(work(), interrupted=7) == 7
    assert cleaned == [True]


def test_work_that_ends_by_itself_tells_its_own_code() -> None:
    async def work() -> int:
        return 3

    assert run_until_stopped(work(), interrupted=7) == 3


def test_a_failure_passes() -> None:
    async def work() -> int:
        raise Failure("no")

    with pytest.raises(Failure, match="no"):
        run_until_stopped(work(), interrupted=7)
