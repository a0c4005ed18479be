"""A limit of time for each test: what hangs fails, with the stacks in its report, and the other tests go on.

The limit counts from the last progress: of the test's own phases and fixtures, and of each thing that it
waits for with a `Patience`. So a busy machine only makes a test slow. A test that catches even that
ends its process; pytest-xdist starts another one for the rest.
"""

from __future__ import annotations

import asyncio
import faulthandler
import inspect
import io
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from functools import partial
from types import CodeType, FrameType
from typing import Any

import pytest

from local import patience

MINUTE = 60.0
#: Seconds without progress, by the beginning of a test's path; the first that fits.
LIMITS = {
    "tests/unit/": 3 * MINUTE,  # they are pure and instant, but for random examples on a busy machine
    "tests/fuzz/": 15 * MINUTE,
    "tests/slow/": 15 * MINUTE,
    "tests/contract/": 20 * MINUTE,
    "tests/browser/": 20 * MINUTE,
    "tests/": 40 * MINUTE,  # whole journeys, and every fault of a story in one test
}
#: The share of the limit after which what did not end by the first interruption is interrupted again, and
#: after which the process ends; and the share of that time by which it may end later.
_AGAIN, _LAST, _LATER = 0.25, 1.0, 0.25
#: Characters of stacks in a report.
_LONGEST = 20_000


class TooLongError(BaseException):
    """A test made no progress for too long. A BaseException, so that no handler of the test's catches it."""


def limit_of(path: str) -> float:
    """Seconds without progress that the test of this path may take."""
    return next((seconds for start, seconds in LIMITS.items() if path.startswith(start)), LIMITS["tests/"])


class Watch:
    """Counts the time since the last progress of one phase of a test, by a timer that it sets anew."""

    def __init__(
        self,
        limit: float,
        interrupt: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        timer: Callable[[float], object] = lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds),
        end: Callable[[float], object] = faulthandler.dump_traceback_later,
    ) -> None:
        self.limit = limit
        self._interrupt = interrupt
        self._clock, self._timer, self._end = clock, timer, end
        self._since = clock()

    def start(self) -> None:
        """Start to count."""
        self._since = self._clock()
        self._timer(self.limit)
        self._end(self.limit * (1 + _LAST))

    def progress(self) -> None:
        """Count from now on."""
        self._since = self._clock()

    def check(self) -> None:
        """The timer has run out. Raises what `interrupt` raises, if the limit is over."""
        passed = self._clock() - self._since
        if passed < self.limit:
            self._timer(max(self.limit - passed, 0.001))
            self._end(self.limit * (1 + _LAST) - passed)
            return
        self._timer(self.limit * _AGAIN)
        self._interrupt()


class LastResort:
    """Ends the process after some time. Each arming starts a thread, so it stays armed from test to test."""

    def __init__(
        self,
        arm: Callable[[float], object],
        cancel: Callable[[], object] = faulthandler.cancel_dump_traceback_later,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._arm, self._cancel, self._clock = arm, cancel, clock
        self._moment = 0.0

    def __call__(self, seconds: float) -> None:
        """End it after so many seconds, or a quarter more, unless this is called again."""
        after = self._moment - self._clock()
        if not seconds <= after <= seconds * (1 + _LATER):
            self._moment = self._clock() + seconds * (1 + _LATER)
            self._arm(seconds * (1 + _LATER))

    def cancel(self) -> None:
        """Do not end it."""
        self._moment = 0.0
        self._cancel()


class Limits:
    """The plugin: every phase of a test is watched, and what waits in it is interrupted."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._watch: Watch | None = None
        self._item: pytest.Item | None = None
        self._over = ""
        #: that of this process: while a test runs, pytest keeps what is written to the usual one
        self._stderr = os.dup(2)
        self._end = LastResort(partial(faulthandler.dump_traceback_later, exit=True, file=self._stderr))
        patience.observers.append(self.progress)
        signal.signal(signal.SIGALRM, self._timer_ran_out)

    def progress(self) -> None:
        """Something happened that a test waits for."""
        if self._watch is not None:
            self._watch.progress()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        """Watch the fixtures."""
        return (yield from self._watched(item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Watch the test."""
        return (yield from self._watched(item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        """Watch the ends of fixtures."""
        return (yield from self._watched(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self) -> Generator[None, object, object]:
        """Each fixture that is ready is progress."""
        try:
            return (yield)
        finally:
            self.progress()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Watch nothing more."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._end.cancel()

    def _watched(self, item: pytest.Item) -> Generator[None, object, object]:
        limit = limit_of(item.nodeid) if self._seconds is None else self._seconds
        self._item, self._over = item, ""
        self._watch = Watch(limit, self._interrupt, end=self._end)
        self._watch.start()
        try:
            try:
                result = yield
            finally:
                self._watch = None  # if no other phase follows, the timer says so
        except asyncio.CancelledError as error:
            if self._over:
                raise TooLongError(self._over) from error
            raise
        return result

    def _timer_ran_out(self, _: int, __: FrameType | None) -> None:
        if self._watch is not None:
            self._watch.check()
        else:
            self._end.cancel()

    def _interrupt(self) -> None:
        """Cancel the task of the test, or raise an error where it stands."""
        assert self._watch is not None
        assert self._item is not None
        repeated = bool(self._over)
        self._over = f"no progress for {self._watch.limit:g} s; the stacks are below"
        if not repeated:
            self._item.add_report_section("call", "stacks", stacks()[:_LONGEST])
            code = getattr(inspect.unwrap(getattr(self._item, "function", len)), "__code__", None)
            if (task := task_of(code)) is not None:
                task.get_loop().call_soon_threadsafe(task.cancel)
                return
        raise TooLongError(self._over)


def task_of(code: CodeType | None) -> asyncio.Task[Any] | None:
    """The task of the running loop that runs this code; its cancellation ends it as it would end itself."""
    coroutines = ((task, getattr(task.get_coro(), "cr_code", None)) for task in _tasks())
    return next((task for task, one in coroutines if one is code and code is not None), None)


def stacks() -> str:
    """Where each thread and each task stands."""
    out = io.StringIO()
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for number, frame in sys._current_frames().items():
        out.write(f"thread {names.get(number, number)}:\n{''.join(traceback.format_stack(frame))}\n")
    for task in _tasks():
        task.print_stack(file=out)
    return out.getvalue()


def _tasks() -> Iterator[asyncio.Task[Any]]:
    loop = asyncio._get_running_loop()
    return iter(() if loop is None else asyncio.all_tasks(loop))


def add_option(parser: pytest.Parser) -> None:
    """`--limit`, for those who want to see sooner what hangs, or to look at it without an end."""
    parser.addoption(
        "--limit", type=float, help="seconds without progress for every test; 0: without a limit"
    )


def watch(config: pytest.Config) -> None:
    """Watch the tests of this process, unless someone looks at them in a debugger."""
    seconds = config.getoption("limit")
    has_timer = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if has_timer and seconds != 0 and not config.getoption("usepdb"):
        config.pluginmanager.register(Limits(seconds), "limits")
