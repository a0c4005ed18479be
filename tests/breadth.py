"""How much of a kind is tried: a representative of it or, with `--all`, everything (`make test-all`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import cycle, islice, product
from typing import Any, TypeVar

Case = TypeVar("Case")
Other = TypeVar("Other")

#: A quick look draws one of so many examples, and never fewer than the next number.
_SHARE, _FEWEST = 5, 20
#: Of a long row of cases, a quick look tries one of so many.
STRIDE = 48

_everything = False


def try_everything(expected: bool) -> None:
    """Set by tests/conftest.py before any test module is imported: what is tried is listed at import."""
    global _everything  # noqa: PLW0603 - modules of tests have nothing else to ask while they are imported
    _everything = expected


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


def every_few(cases: Iterable[Case], number: int, thorough: int = 1) -> list[Case]:
    """One of so many cases that are alike, and never none; as many turns in a row try them all.

    `thorough`: of so many one is tried even where everything is, for cases that take long.
    """
    cases = list(cases)
    stride = max(1, min(thorough if _everything else STRIDE, len(cases)))
    return cases[number % stride :: stride]


def pairs(cases: Iterable[Case], ways: Iterable[Other]) -> list[tuple[Case, Other]]:
    """Each case in each way; a quick look pairs them in turn, so that each case and each way occurs."""
    cases, ways = list(cases), list(ways)
    if _everything:
        return list(product(cases, ways))
    return list(islice(zip(cycle(cases), cycle(ways), strict=False), max(len(cases), len(ways))))
