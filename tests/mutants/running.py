"""Runs mutants inside one pytest session: what is collected once is forked for each of them.

A mutant takes the place of its function in the forked process: the function object, which other modules hold,
gets the code of the changed one. First each test notes which lines it runs; a mutant meets those that run
any line of its statement, the ones first that caught others and are quick.
"""

from __future__ import annotations

import gc
import itertools
import os
import sys
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CodeType, FunctionType
from typing import Protocol

import pytest

from tests.mutants.code import code_of, functions_of, shape
from tests.mutants.forked import FAILED, failure_line, record, run_until_failure
from tests.mutants.operators import Mutant, mutants_of

#: Every mutant meets the quick tests first, so many cases of each, until these took that many seconds.
_QUICK, _CASES, _ENOUGH = 0.3, 8, 1.5

CAUGHT, SURVIVED, UNTESTED = "caught", "survived", "no test runs it"


class Report(Protocol):
    """What becomes of the mutants."""

    def known_outcome(self, module: str, mutant: Mutant) -> str | None:
        """The outcome of an earlier run."""

    def thorough(self, module: str, mutant: Mutant) -> bool:
        """Whether it meets all tests that run it when none of the first notices it."""

    def note_outcome(self, module: str, mutant: Mutant, outcome: str) -> None:
        """Take down the outcome of a mutant that was just run."""

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
        self._expected = expected
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
            self._report.failed(failure_line(report))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Note what each test runs, then fork for each mutant."""
        if session.testsfailed:
            raise session.Interrupted("the tests could not be collected")
        functions = {module: functions_of(module) for module in self._modules}
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
            if outcome is None and self._expected():
                outcome = self._run(session, module, mutant, functions)
            if outcome is not None:
                self._report.note_outcome(name, mutant, outcome)
        return self._report.ended(name)

    def _note(self, session: pytest.Session, functions: list[FunctionType]) -> None:
        """Run every test once, in a forked process whose words come through a pipe."""
        reader, writer = os.pipe()
        if not (child := os.fork()):
            os.close(reader)
            with os.fdopen(writer, "w", buffering=1) as out:  # a line is there after any end
                status = record(session, functions, out.write)
            os._exit(status)
        os.close(writer)
        with os.fdopen(reader) as words:
            for line in words:
                number, seconds, *places = line.rstrip("\n").split("\t")
                if number == FAILED:
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
        code = code_of(compile(mutant.change(), str(module), "exec"), mutant.function, mutant.line)
        if code is None or shape(code) != shape(function.__code__):
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
            run_until_failure(session, [(number, self._seconds[number]) for number in numbers], writer)
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
