"""How much of a kind is tried: a representative or, with `--all`, everything (`make test-all`).

Even `--all` has the kinds of fault of the slow crash tests take turns; `--every-fault` tries them all at each
call (`make test-crash`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import cycle, islice, product
from typing import Any, TypeVar

Case = TypeVar("Case")
Other = TypeVar("Other")

#: A quick look draws one of so many examples, and never fewer than the next number.
_SHARE, _FEWEST = 5, 20
#: Of a long row of cases, a quick look tries one of so many.
STRIDE = 48

_everything = False
_every_fault = False


def try_everything(expected: bool, *, every_fault: bool = False) -> None:
    """Set by tests/conftest.py before any test module is imported: what is tried is listed at import."""
    global _everything, _every_fault
    _everything, _every_fault = expected, every_fault


def examples(many: int) -> int:
    """How many examples of Hypothesis, where so many are thorough."""
    return many if _everything else max(_FEWEST, many // _SHARE)


def size(thorough: int, quick: int) -> int:
    """How large a text or how many of a thing."""
    return thorough if _everything else quick


def one_each(cases: Iterable[Case], kind: Callable[[Case], Any]) -> list[Case]:
    """The first case of each kind."""
    cases = list(cases)
    return cases if _everything else list({kind(case): case for case in reversed(cases)}.values())[::-1]


def every_few(cases: Iterable[Case], number: int) -> list[Case]:
    """One of so many cases that are alike, and never none; as many turns in a row try them all."""
    cases = list(cases)
    stride = max(1, min(1 if _everything else STRIDE, len(cases)))
    return cases[number % stride :: stride]


def in_turn(
    cases: Iterable[Case],
    kind: int,
    kinds: int,
    row: int = 0,
    *,
    rare: Collection[Case] = (),
    step: int | None = None,
) -> list[Case]:
    """The cases in which the `kind`-th of so many kinds of fault has its turn; none only of none.

    Each case meets one kind, if there are as many cases as kinds, and a rare one meets all. Each kind meets
    cases at even and at odd places: after each round of an even number of kinds, their order moves on by one.
    `step`: another number of places. `row`: in which of several rows of cases; each begins with another kind.
    A quick look tries few of the cases, `--every-fault` tries them all.
    """
    cases = list(cases)
    if _every_fault or not _everything:
        return every_few(cases, row + 2 * kind)
    moved = 1 - kinds % 2 if step is None else step
    turns = [
        case
        for at, case in enumerate(cases)
        if case in rare or (at + moved * (at // kinds) - kind - row) % kinds == 0
    ]
    return turns or cases[(kind + row) % max(1, len(cases)) :][:1]


def pairs(cases: Iterable[Case], ways: Iterable[Other]) -> list[tuple[Case, Other]]:
    """Each case in each way; a quick look pairs them in turn, so that each case and each way occurs."""
    cases, ways = list(cases), list(ways)
    if _everything:
        return list(product(cases, ways))
    return list(islice(zip(cycle(cases), cycle(ways), strict=False), max(len(cases), len(ways))))
