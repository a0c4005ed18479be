"""What a forked process of a pytest session does: tests until one fails, or each with the lines it runs."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import CodeType, FunctionType

import pytest

from tests.mutants.code import nested_code

#: Seconds of processor time, and of the clock, that a test gets beside its own; an endless mutant is caught
#: by the first, one that waits for ever by the second.
_SPARE, _PATIENCE = 5, 30
#: Bytes, for a mutant that never stops to collect.
_MEMORY = 4 * 2**30
#: What stands in place of a test's number before one that fails by itself.
FAILED = "failed"
_TOOL = 4  # a tool of sys.monitoring that no debugger or profiler uses


def _quiet() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def failure_line(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Which test, and the last line of what it says: where it failed, and the kind of the error."""
    lines = [line.strip() for line in report.longreprtext.split("\n") if line.strip()]
    return f"{report.nodeid}: {lines[-1] if lines else 'it says nothing'}".replace("\t", " ")


class _Reports:
    def __init__(self, failed: Callable[[pytest.TestReport], None]) -> None:
        self._failed = failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Of setup, call or teardown."""
        if report.failed:
            self._failed(report)


def run_until_failure(session: pytest.Session, order: list[tuple[int, float]], out: int) -> None:
    """Ends the process at the first failure, having written which test that was."""
    _quiet()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for number, seconds in order:
        # Either signal ends the process.
        cpu = int(time.process_time() + _SPARE + 3 * seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, resource.RLIM_INFINITY))
        signal.setitimer(signal.ITIMER_REAL, _PATIENCE + 20 * seconds)

        def failed(_: pytest.TestReport, number: int = number) -> None:
            with suppress(BrokenPipeError):  # the parent was stopped
                os.write(out, str(number).encode())
            os._exit(1)

        with _heard(session, failed):
            _protocol(session, number)


class _heard:  # noqa: N801 - a context manager that reads like a function
    def __init__(self, session: pytest.Session, failed: Callable[[pytest.TestReport], None]) -> None:
        self._manager, self._plugin = session.config.pluginmanager, _Reports(failed)

    def __enter__(self) -> None:
        self._manager.register(self._plugin)

    def __exit__(self, *_: object) -> None:
        self._manager.unregister(self._plugin)


def _protocol(session: pytest.Session, number: int) -> None:
    item = session.items[number]
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)


def record(session: pytest.Session, functions: list[FunctionType], write: Callable[[str], object]) -> int:
    """Each test's number, its seconds and the lines that it ran of these functions; those that failed.

    1 when one did.
    """
    _quiet()
    failures: list[str] = []
    ran: set[str] = set()
    monitoring = sys.monitoring  # type: ignore[attr-defined,unused-ignore] # Python 3.12
    monitoring.use_tool_id(_TOOL, "mutants")

    def line_ran(code: CodeType, line: int) -> object:
        ran.add(f"{code.co_filename}:{line}")
        return monitoring.DISABLE

    monitoring.register_callback(_TOOL, monitoring.events.LINE, line_ran)
    for function in functions:
        for code in (function.__code__, *nested_code(function.__code__)):
            monitoring.set_local_events(_TOOL, code, monitoring.events.LINE)
    for number in range(len(session.items)):
        ran.clear()
        monitoring.restart_events()
        begun = time.process_time()
        with _heard(session, lambda report: failures.append(failure_line(report))):
            _protocol(session, number)
        write("\t".join([str(number), f"{time.process_time() - begun:.4f}", *ran]) + "\n")
    for failure in failures:
        write(f"{FAILED}\t{failure}\n")
    return len(failures) and 1
