"""The language of autoscale formulas: parsed into statements, evaluated over samples. Pure.

A subset: numbers, times and intervals, `GetSample` and `GetSamplePercent` of variables, the functions that
formulas for queues use, `time` of a text, the members of a time, and all operators.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from local.azurebatch.autoscale.tokens import Token, tokens
from local.azurebatch.autoscale.values import (
    FUNCTIONS,
    INTERVALS,
    MEMBERS,
    OPTIONS,
    READ_ONLY,
    FormulaError,
    Interval,
    Samples,
    Value,
    World,
    moment,
)

Evaluate = Callable[["_Scope"], Value]


@dataclass
class _Scope:
    world: World
    names: dict[str, Value]


@dataclass(frozen=True)
class Formula:
    """A parsed formula."""

    statements: Sequence[tuple[Token, Evaluate]]

    def evaluate(self, world: World) -> dict[str, Value]:
        """The values of all names that the formula sets. Raises FormulaError."""
        scope = _Scope(world, {})
        for token, expression in self.statements:
            try:
                scope.names[token.text] = expression(scope)
            except (TypeError, ValueError, ArithmeticError, IndexError, RecursionError) as error:
                raise token.wrong(f"Cannot be evaluated: {error}") from None
        return scope.names


def read(text: str) -> Formula:
    """Read a formula. Raises FormulaError."""
    try:
        return _Reader(text).formula()
    except RecursionError:
        raise FormulaError("Line 1, Col 1: The formula is nested too deeply") from None


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
        self._tokens = tokens(text)
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
                raise token.wrong(f"Unexpected {token.text!r}; a name is expected")
            if token.text in READ_ONLY:
                raise token.wrong(f"{token.text} can be read only")
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
        if token.kind == "text":
            text = token.text.strip('"')
            return lambda _: text
        if token.text == "(":
            inner = self._condition()
            self._need(")")
            return inner
        if token.kind != "name":
            raise token.wrong(f"Unexpected {token.text or 'end'!r}")
        if self._take("("):
            return self._call(token)
        if self._take("."):
            return self._sampled(token)
        return self._name(token)

    def _name(self, token: Token) -> Evaluate:
        name = token.text
        if name in INTERVALS or name in OPTIONS:
            constant = INTERVALS.get(name, name)
            return lambda _: constant
        if name in self._names:
            return lambda scope: scope.names[name]
        if not name.startswith("$"):
            raise token.wrong(f"Undefined symbol: {name}")
        return lambda scope: _samples(scope, token).values[-1][1]

    def _call(self, token: Token) -> Evaluate:
        arguments = self._arguments()
        if token.text == "time" and not arguments:
            return lambda scope: scope.world.now
        work = moment if token.text == "time" else FUNCTIONS.get(token.text)
        if work is None:
            raise token.wrong(f"Undefined function: {token.text}")
        return lambda scope: work(*(argument(scope) for argument in arguments))

    def _sampled(self, token: Token) -> Evaluate:
        method = self._tokens[self._at]
        self._at += 1
        if work := MEMBERS.get(method.text):
            time = self._name(token)
            return lambda scope: work(time(scope))
        self._need("(")
        arguments = self._arguments()
        if method.text == "GetSamplePercent" and arguments:
            return lambda scope: _samples(scope, token).share(arguments[0](scope))
        if method.text != "GetSample" or not 1 <= len(arguments) <= 3:
            raise method.wrong(f"Undefined method: {method.text}")
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
            raise token.wrong(f"Unexpected {token.text or 'end'!r}; {text!r} is expected")


def _both(work: Callable[[Any, Any], Value], rest: Evaluate, right: Evaluate) -> Evaluate:
    return lambda scope: work(rest(scope), right(scope))


def _samples(scope: _Scope, token: Token) -> Samples:
    samples = scope.world.variables.get(token.text.removeprefix("$"))
    if samples is None:
        raise token.wrong(f"Undefined symbol: {token.text}")
    return samples
