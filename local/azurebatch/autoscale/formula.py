"""The language of autoscale formulas: parsed into statements, evaluated over samples. Pure.

A subset: numbers, times and intervals, `GetSample` and `GetSamplePercent` of variables, the functions that
formulas for queues use, and all operators.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from local.azurebatch.autoscale.values import (
    FUNCTIONS,
    INTERVALS,
    OPTIONS,
    FormulaError,
    Interval,
    Samples,
    Value,
    World,
)

_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<name>\$?[A-Za-z_]\w*)"
    r"|(?P<mark>&&|\|\||[<>=!]=|[-+*/<>!?:=(),;.])",
    re.DOTALL,
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int
    column: int


Evaluate = Callable[["_Scope"], Value]


@dataclass
class _Scope:
    world: World
    names: dict[str, Value]


@dataclass(frozen=True)
class Formula:
    """A parsed formula."""

    statements: Sequence[tuple[_Token, Evaluate]]

    def evaluate(self, world: World) -> dict[str, Value]:
        """The values of all names that the formula sets. Raises FormulaError."""
        scope = _Scope(world, {})
        for token, expression in self.statements:
            try:
                scope.names[token.text] = expression(scope)
            except (TypeError, ValueError, ArithmeticError, IndexError, RecursionError) as error:
                raise _wrong(token, f"Cannot be evaluated: {error}") from None
        return scope.names


def read(text: str) -> Formula:
    """Read a formula. Raises FormulaError."""
    try:
        return _Reader(text).formula()
    except RecursionError:
        raise FormulaError("Line 1, Col 1: The formula is nested too deeply") from None


def _wrong(token: _Token, message: str) -> FormulaError:
    return FormulaError(f"Line {token.line}, Col {token.column}: {message}")


class _Reader:
    """A recursive-descent parser, from statements down to names."""

    _LEVELS: tuple[Mapping[str, Callable[[Any, Any], Value]], ...] = (
        {"||": lambda a, b: float(bool(a) or bool(b))},
        {"&&": lambda a, b: float(bool(a) and bool(b))},
        {"==": lambda a, b: float(a == b), "!=": lambda a, b: float(a != b)},
        {
            "<": lambda a, b: float(a < b),
            ">": lambda a, b: float(a > b),
            "<=": lambda a, b: float(a <= b),
            ">=": lambda a, b: float(a >= b),
        },
        {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
        {"*": lambda a, b: a * b, "/": lambda a, b: a / b},
    )

    def __init__(self, text: str) -> None:
        self._tokens: list[_Token] = []
        position, line, start = 0, 1, 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            column = position - start + 1
            if match is None:
                raise FormulaError(f"Line {line}, Col {column}: Unexpected character {text[position]!r}")
            if match.lastgroup != "space":
                self._tokens.append(_Token(match.lastgroup or "", match[0], line, column))
            position = match.end()
            if lines := match[0].count("\n"):
                line, start = line + lines, match.start() + match[0].rfind("\n") + 1
        self._tokens.append(_Token("end", "", line, 1))
        self._at = 0
        self._names: set[str] = set()

    def formula(self) -> Formula:
        statements = []
        while self._tokens[self._at].kind != "end":
            if self._take(";"):
                continue
            token = self._tokens[self._at]
            self._at += 1
            if token.kind != "name":
                raise _wrong(token, f"Unexpected {token.text!r}; a name is expected")
            self._need("=")
            expression = self._condition()
            statements.append((token, expression))
            self._names.add(token.text)
            if self._tokens[self._at].kind != "end":
                self._need(";")
        return Formula(statements)

    def _condition(self) -> Evaluate:
        test = self._level(0)
        if not self._take("?"):
            return test
        yes = self._condition()
        self._need(":")
        no = self._condition()
        return lambda scope: yes(scope) if test(scope) else no(scope)

    def _level(self, number: int) -> Evaluate:
        if number == len(self._LEVELS):
            return self._unary()
        rest = self._level(number + 1)
        while (token := self._tokens[self._at]).text in self._LEVELS[number]:
            self._at += 1
            work = self._LEVELS[number][token.text]
            rest = _both(work, rest, self._level(number + 1))
        return rest

    def _unary(self) -> Evaluate:
        if self._take("-"):
            inner = self._unary()
            return lambda scope: -inner(scope)
        if self._take("!"):
            inner = self._unary()
            return lambda scope: float(not inner(scope))
        return self._value()

    def _value(self) -> Evaluate:
        token = self._tokens[self._at]
        self._at += 1
        if token.kind == "number":
            number = float(token.text)
            return lambda _: number
        if token.text == "(":
            inner = self._condition()
            self._need(")")
            return inner
        if token.kind != "name":
            raise _wrong(token, f"Unexpected {token.text or 'end'!r}")
        if self._take("("):
            return self._call(token)
        if self._take("."):
            return self._sampled(token)
        return self._name(token)

    def _name(self, token: _Token) -> Evaluate:
        name = token.text
        if name in INTERVALS or name in OPTIONS:
            constant = INTERVALS.get(name, name)
            return lambda _: constant
        if name in self._names:
            return lambda scope: scope.names[name]
        if not name.startswith("$"):
            raise _wrong(token, f"Undefined symbol: {name}")
        return lambda scope: _samples(scope, token).values[-1][1]

    def _call(self, token: _Token) -> Evaluate:
        arguments = self._arguments()
        if token.text == "time" and not arguments:
            return lambda scope: scope.world.now
        work = FUNCTIONS.get(token.text)
        if work is None:
            raise _wrong(token, f"Undefined function: {token.text}")
        return lambda scope: work(*(argument(scope) for argument in arguments))

    def _sampled(self, token: _Token) -> Evaluate:
        method = self._tokens[self._at]
        self._at += 1
        self._need("(")
        arguments = self._arguments()
        if method.text == "GetSamplePercent" and arguments:
            return lambda scope: _samples(scope, token).share(arguments[0](scope))
        if method.text != "GetSample" or not 1 <= len(arguments) <= 3:
            raise _wrong(method, f"Undefined method: {method.text}")
        counts = self._counts

        def sampled(scope: _Scope) -> list[float]:
            return counts(_samples(scope, token).values, [argument(scope) for argument in arguments])

        return sampled

    @staticmethod
    def _counts(values: Sequence[tuple[float, float]], numbers: Sequence[float]) -> list[float]:
        """The last samples: a number of them, those of some seconds, or those between two ages."""
        if len(numbers) == 1 and not isinstance(numbers[0], Interval):
            return [value for _, value in values[-max(1, int(numbers[0])) :]]
        youngest = numbers[1] if len(numbers) > 1 and isinstance(numbers[1], Interval) else 0.0
        return [value for age, value in values if youngest <= age <= numbers[0]] or [values[-1][1]]

    def _arguments(self) -> list[Evaluate]:
        arguments: list[Evaluate] = []
        if self._take(")"):
            return arguments
        while True:
            arguments.append(self._condition())
            if self._take(")"):
                return arguments
            self._need(",")

    def _take(self, text: str) -> bool:
        if self._tokens[self._at].text == text:
            self._at += 1
            return True
        return False

    def _need(self, text: str) -> None:
        if not self._take(text):
            token = self._tokens[self._at]
            raise _wrong(token, f"Unexpected {token.text or 'end'!r}; {text!r} is expected")


def _both(work: Callable[[Any, Any], Value], rest: Evaluate, right: Evaluate) -> Evaluate:
    return lambda scope: work(rest(scope), right(scope))


def _samples(scope: _Scope, token: _Token) -> Samples:
    samples = scope.world.variables.get(token.text.removeprefix("$"))
    if samples is None:
        raise _wrong(token, f"Undefined symbol: {token.text}")
    return samples
