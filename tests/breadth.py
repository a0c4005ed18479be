"""How many cases of a kind run: a representative, some of a test (`--cases`), or every one (`--all`).

Even with `--all`, kinds of faults take turns in the slow crash tests; `--every-fault` tries them all at each
call (`make test-crash`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from itertools import cycle, islice, product
from typing import Any, TypeVar

Case = TypeVar("Case")
Other = TypeVar("Other")

#: A quick run draws one of so many examples, but at least the second number; and with `--cases`.
_SHARE, _FEWEST = 5, 20
_SHARE_OF_SOME, _FEWEST_OF_SOME = 10, 10
#: That of Hypothesis.
_USUAL = 100
#: Of many cases, a quick run tries one of so many.
STRIDE = 48

_everything = False
_every_fault = False
_only_some = False


def try_everything(expected: bool, *, every_fault: bool = False, only_some: bool = False) -> None:
    """Called by tests/conftest.py before test modules are imported, as they list their cases then."""
    global _everything, _every_fault, _only_some
    _everything, _every_fault, _only_some = expected, every_fault, only_some and not expected


def examples(many: int) -> int:
    """The number of Hypothesis's examples; `many` is for a thorough run."""
    if _only_some:
        return max(_FEWEST_OF_SOME, many // _SHARE_OF_SOME)
    return many if _everything else max(_FEWEST, many // _SHARE)


def usual_examples() -> int:
    """The same for a test that says no number."""
    return examples(_USUAL) if _only_some else _USUAL


def size(thorough: int, quick: int, some: int | None = None) -> int:
    """The size of a text, or the number of things; `some`: with `--cases`, where a quick run takes long."""
    if _only_some and some is not None:
        return some
    return thorough if _everything else quick


def one_each(cases: Iterable[Case], kind: Callable[[Case], Any]) -> list[Case]:
    """The first case of each kind."""
    cases = list(cases)
    return cases if _everything else list({kind(case): case for case in reversed(cases)}.values())[::-1]


def some_each(cases: Iterable[Case], test: Callable[[Case], tuple[str, str]], number: int) -> list[Case]:
    """At most so many cases of each test of a module: the first, and others in turn, from test to test."""
    cases, modules = list(cases), defaultdict[str, dict[str, list[Case]]](lambda: defaultdict(list))
    for case in cases:
        module, name = test(case)
        modules[module][name].append(case)
    chosen = {
        case
        for tests in modules.values()
        for place, members in enumerate(tests.values())
        for case in (members[:1] + _spread(members[1:], number - 1, place))
    }
    return [case for case in cases if case in chosen]


def _spread(cases: list[Case], number: int, place: int) -> list[Case]:
    """So many of the cases, or all; another place takes others."""
    steps = range(min(number, len(cases)))
    return [cases[(place + step * len(cases) // len(steps)) % len(cases)] for step in steps]


def every_few(cases: Iterable[Case], number: int, thorough: int = 1) -> list[Case]:
    """One of every `STRIDE` similar cases, at least one; different values of `number` try others.

    `thorough`: with `--all`, one of so many; with `--every-fault`, each.
    """
    cases = list(cases)
    stride = max(1, min(1 if _every_fault else thorough if _everything else STRIDE, len(cases)))
    return cases[number % stride :: stride]


def share(cases: Iterable[Case], number: int, tests: int) -> list[Case]:
    """The cases of one of several tests that divide similar ones among them; with `--all`, every case."""
    cases = list(cases)
    return cases if _everything else cases[number % tests :: tests]


def in_turn(
    cases: Iterable[Case],
    kind: int,
    kinds: int,
    row: int = 0,
    *,
    rare: Collection[Case] = (),
    step: int | None = None,
) -> list[Case]:
    """The cases for the `kind`-th of so many kinds of fault: at least one, unless there are none.

    Each case meets one kind, if there are as many cases as kinds; a rare one meets all. Each kind meets cases
    at even and at odd positions: after each round of an even number of kinds, their order shifts by one.
    `step`: another shift. `row`: the number of this list of cases; each list begins with another kind.
    A quick run tries a few of the cases, `--every-fault` all of them.
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
    """Each case in each way; a quick run pairs them in turn, so that each case and each way occurs."""
    cases, ways = list(cases), list(ways)
    if _everything:
        return list(product(cases, ways))
    return list(islice(zip(cycle(cases), cycle(ways), strict=False), max(len(cases), len(ways))))


def rounds(members: Iterable[Case], number: int) -> list[list[tuple[Case, Case]]]:
    """The rounds of a tournament: in each a member occurs once, and every pair in one. A quick run has one.

    Another number is another round.
    """
    members = list(members)
    players = [*members, *[None] * (len(members) % 2)]
    numbers = range(max(1, len(players) - 1))
    return [_round(players, n) for n in (numbers if _everything else [number % len(numbers)])]


def _round(players: list[Case | None], shift: int) -> list[tuple[Case, Case]]:
    table = [*players[:1], *players[1:][shift:], *players[1:][:shift]]
    half = islice(zip(table, reversed(table), strict=True), len(table) // 2)
    return [(one, other) for one, other in half if one is not None and other is not None]
