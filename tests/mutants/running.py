"""Runs mutants inside one pytest session: what is collected once is forked for each of them.

A mutant takes the place of its function in the forked process: the function object, which other modules hold,
gets the code of the changed one. First each test notes which lines it runs; a mutant meets those that run
any line of its statement, the ones first that caught others and are quick.
"""

from __future__ import annotations

import gc
import inspect
import itertools
import os
import resource
import signal
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Protocol

import pytest

from tests.mutants.operators import Mutant, mutants_of

#: Seconds of processor time, and of the clock, that a test gets beside its own; an endless mutant is caught
#: by the first, one that waits for ever by the second.
_SPARE, _PATIENCE = 5, 30
#: Bytes, for a mutant that never stops to collect.
_MEMORY = 4 * 2**30
#: Every mutant meets the quick tests first, so many cases of each, until these took that many seconds.
_QUICK, _CASES, _ENOUGH = 0.3, 8, 1.5
#: What a function is, beside a plain one.
_KINDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
#: What stands in place of a test's number before one that fails by itself.
_FAILED = "failed"
_TOOL = 4  # a tool of sys.monitoring that no debugger or profiler uses

CAUGHT, SURVIVED, UNTESTED = "caught", "survived", "no test runs it"


class Report(Protocol):
    """What becomes of the mutants."""

    def known_outcome(self, module: str, mutant: Mutant) -> str | None:
        """The outcome of an earlier run."""

    def thorough(self, module: str, mutant: Mutant) -> bool:
        """Whether it meets all tests that run it when none of the first notices it."""

    def note_outcome(self, module: str, mutant: Mutant, outcome: str) -> None:
        """One more."""

    def ended(self, module: str) -> bool:
        """There are no more of this module. Whether all is as expected."""

    def failed(self, test: str) -> None:
        """A test that fails, or cannot be collected, without any mutant, and where."""


class Mutation:
    """A plugin of pytest: in place of running the tests, it runs mutants of some modules against them."""

    def __init__(
        self, modules: dict[Path, str], report: Report, expected: Callable[[], bool], at_once: int
    ) -> None:
        #: files, and how they are named
        self._modules = modules
        self._sources = {module: module.read_text(encoding="utf-8") for module in modules}
        self._report = report
        self._wanted = expected
        self._at_once = at_once
        self.as_expected = True
        #: file and line → the tests that run it
        self._tests: dict[tuple[str, int], set[int]] = defaultdict(set)
        self._seconds: dict[int, float] = {}
        self._catches: Counter[int] = Counter()
        self._own_catches: Counter[tuple[str, int]] = Counter()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Nothing is measured with tests that are not there."""
        if report.failed:
            self._report.failed(_failure(report))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Note what each test runs, then fork for each mutant."""
        if session.testsfailed:
            raise session.Interrupted("the tests could not be collected")
        functions = {module: _functions_of(module) for module in self._modules}
        self._note(session, [function for some in functions.values() for function in some.values()])
        gc.freeze()  # a collection in a forked process would copy every page
        working = 0
        for module in self._modules:
            if working == self._at_once:
                self._ends()
                working -= 1
            if not os.fork():
                try:
                    status = not self._all_of(session, module, functions[module])
                except BaseException:  # noqa: BLE001 - a forked process never returns to pytest
                    status = True
                    traceback.print_exc(file=sys.__stderr__)
                os._exit(status)
            working += 1
        for _ in range(working):
            self._ends()
        return True

    def _ends(self) -> None:
        """Wait for one of the processes that look after a module each."""
        self.as_expected &= os.wait()[1] == 0

    def _all_of(
        self, session: pytest.Session, module: Path, functions: dict[tuple[str, int], FunctionType]
    ) -> bool:
        """Every mutant of a module."""
        name = self._modules[module]
        if not self._control(session, functions):
            return False
        for mutant in mutants_of(self._sources[module]):
            outcome = self._report.known_outcome(name, mutant)
            if outcome is None and self._wanted():
                outcome = self._run(session, module, mutant, functions)
            if outcome is not None:
                self._report.note_outcome(name, mutant, outcome)
        return self._report.ended(name)

    def _note(self, session: pytest.Session, functions: list[FunctionType]) -> None:
        """Run every test once, in a forked process whose words come through a pipe."""
        reader, writer = os.pipe()
        if not (child := os.fork()):
            os.close(reader)
            with os.fdopen(writer, "w", buffering=1) as out:  # a line is there, whatever the next test does
                status = _record(session, functions, out.write)
            os._exit(status)
        os.close(writer)
        with os.fdopen(reader) as words:
            for line in words:
                number, seconds, *places = line.rstrip("\n").split("\t")
                if number == _FAILED:
                    self._report.failed(seconds)
                    continue
                self._seconds[int(number)] = float(seconds)
                for place in places:
                    file, _, result = place.rpartition(":")
                    self._tests[file, int(result)].add(int(number))
        ended = os.waitpid(child, 0)[1]
        if (noted := len(self._seconds)) < len(session.items):
            self._report.failed(f"{session.items[noted].nodeid}: it ends the process that runs it")
        if ended or noted < len(session.items):
            raise session.Interrupted("a test fails without any mutant")

    def _control(self, session: pytest.Session, functions: dict[tuple[str, int], FunctionType]) -> bool:
        """What no one has changed has to survive, or nothing that is caught means anything."""
        for function in functions.values():
            code = function.__code__
            lines = [line for _, _, line in code.co_lines() if line]
            if numbers := self._that_run(code.co_filename, lines):
                quick = self._quick(session, code, numbers)
                if noticed := self._meets(session, function, code.replace(), quick):
                    self._report.failed(f"{noticed}: after the other tests of {code.co_qualname}")
                    return False
                return True
        return True

    def _run(
        self,
        session: pytest.Session,
        module: Path,
        mutant: Mutant,
        functions: dict[tuple[str, int], FunctionType],
    ) -> str:
        numbers = self._that_run(str(module), mutant.lines)
        if not numbers:
            return UNTESTED
        function = functions[mutant.function, mutant.line]
        code = _code_of(compile(mutant.change(), str(module), "exec"), mutant.function, mutant.line)
        if code is None or _shape(code) != _shape(function.__code__):
            return CAUGHT  # no program that could run
        quick = self._quick(session, code, numbers)
        others = numbers.difference(quick) if self._report.thorough(self._modules[module], mutant) else set()
        order = [*quick, *sorted(others, key=self._seconds.__getitem__)]
        return CAUGHT if self._meets(session, function, code, order) else SURVIVED

    def _meets(
        self, session: pytest.Session, function: FunctionType, code: CodeType, numbers: list[int]
    ) -> str:
        """The test that notices a function with this code, or how its process ended; "" when none does."""
        reader, writer = os.pipe()
        if not (child := os.fork()):
            os.close(reader)
            function.__code__ = code
            _run_until_failure(session, [(number, self._seconds[number]) for number in numbers], writer)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as words:
            caught = words.read()
        status = os.waitpid(child, 0)[1]
        if caught:
            self._catches[int(caught)] += 1
            self._own_catches[code.co_qualname, int(caught)] += 1
            return session.items[int(caught)].nodeid
        return f"a test that ends its process, status {status}" if status else ""

    def _that_run(self, file: str, lines: Iterable[int]) -> set[int]:
        return {number for line in lines for number in self._tests[file, line]}

    def _quick(self, session: pytest.Session, code: CodeType, numbers: Iterable[int]) -> list[int]:
        """The quick tests, some cases of each, of each file in turn: the first catch most in little time."""
        own = f"test_{Path(code.co_filename).stem}.py"

        def worth(number: int) -> float:
            caught = self._catches[number] + 50 * self._own_catches[code.co_qualname, number]
            named = 20 * (session.items[number].path.name == own)
            return (1 + caught + named) / (0.01 + self._seconds[number])

        cases: Counter[object] = Counter()
        turns: Counter[object] = Counter()
        order: list[tuple[int, int, int, int]] = []
        for number in sorted(numbers, key=worth, reverse=True):
            item = session.items[number]
            test = getattr(item, "function", number)
            cases[test] += 1
            if cases[test] <= _CASES and self._seconds[number] < _QUICK:
                turns[item.path] += 1
                caught = self._own_catches[code.co_qualname, number]
                order.append((-caught, turns[item.path], len(order), number))
        enough = itertools.accumulate(self._seconds[number] for *_, number in sorted(order))
        return [number for (*_, number), spent in zip(sorted(order), enough, strict=True) if spent < _ENOUGH]


def _quiet() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def _failure(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Which test, and the last line of what it says: where it failed, and the kind of the error."""
    lines = [line.strip() for line in report.longreprtext.split("\n") if line.strip()]
    return f"{report.nodeid}: {lines[-1] if lines else 'it says nothing'}".replace("\t", " ")


class _Reports:
    """Hears of each failure."""

    def __init__(self, failed: Callable[[pytest.TestReport], None]) -> None:
        self._failed = failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Of setup, call or teardown."""
        if report.failed:
            self._failed(report)


def _run_until_failure(session: pytest.Session, order: list[tuple[int, float]], out: int) -> None:
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
            with suppress(BrokenPipeError):  # whoever ran us was stopped
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


def _record(session: pytest.Session, functions: list[FunctionType], write: Callable[[str], object]) -> int:
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
        for code in (function.__code__, *_nested_code(function.__code__)):
            monitoring.set_local_events(_TOOL, code, monitoring.events.LINE)
    for number in range(len(session.items)):
        ran.clear()
        monitoring.restart_events()
        begun = time.process_time()
        with _heard(session, lambda report: failures.append(_failure(report))):
            _protocol(session, number)
        write("\t".join([str(number), f"{time.process_time() - begun:.4f}", *ran]) + "\n")
    for failure in failures:
        write(f"{_FAILED}\t{failure}\n")
    return len(failures) and 1


def _functions_of(module: Path) -> dict[tuple[str, int], FunctionType]:
    """The living functions of a module by qualified name and first line, whatever decorates them."""
    return {
        (result.__code__.co_qualname, result.__code__.co_firstlineno): result
        for result in gc.get_objects()
        if type(result) is FunctionType and result.__code__.co_filename == str(module)
    }


def _code_of(code: CodeType, name: str, line: int) -> CodeType | None:
    """The code of a function, somewhere inside that of its module."""
    for one in _nested_code(code):
        if one.co_qualname == name and one.co_firstlineno == line:
            return one
    return None


def _shape(code: CodeType) -> tuple[int, int]:
    """What has to be the same for one code to take the place of another: a generator stays one."""
    return len(code.co_freevars), code.co_flags & _KINDS


def _nested_code(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _nested_code(one)
