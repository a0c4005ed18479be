"""Did you mean: the known name that a person most likely meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

#: Comparing is quadratic in length, and no property has a name of this size.
_LONGEST = 64
#: Among more names than this a suggestion would be a guess.
_MOST_KNOWN = 100
#: Suggestions for one document; people read no more, and each one takes time.
_MOST = 200
#: A word of this many letters is recognised in spite of two typing errors.
_TWO_SLIPS = 9


class Suggestions:
    """The suggestions for one document. Their number is limited, so that no document takes too much time."""

    def __init__(self) -> None:
        self._remaining = _MOST

    def did_you_mean(self, text: str, candidates: Iterable[str]) -> str:
        """A piece of a message: `; did you mean "…"?`, or nothing if no known name is close."""
        close = self.closest(text, candidates)
        return f'; did you mean "{close}"?' if close else ""

    def closest(self, text: str, candidates: Iterable[str]) -> str:
        """The known name that is close; "" if there is none."""
        self._remaining -= 1
        return _closest(text, candidates) or "" if self._remaining >= 0 else ""

    def certainly(self, text: str, candidates: Iterable[str]) -> str | None:
        """The one that this must be; see the function of this name."""
        return certainly(text, candidates) if self._remaining >= 0 else None


def certainly(text: str, candidates: Iterable[str]) -> str | None:
    """The one known name that this must be: only case, underscores or a slip differ, and no other is near."""
    if not 3 <= len(text) <= _LONGEST:
        return None
    plain = _plain(text)
    names = [name for name in islice(candidates, _MOST_KNOWN) if len(name) <= _LONGEST]
    same = [name for name in names if _plain(name) == plain] or [
        name for name in names if _singular(_plain(name)) == _singular(plain)
    ]
    if same:
        return same[0] if len(same) == 1 else None
    slips = {name: distance(plain, _plain(name)) for name in names}
    near = sorted(slips, key=lambda name: slips[name])[:2]
    allowed = 2 if len(plain) >= _TWO_SLIPS else 1
    if not near or len(plain) <= 3 or slips[near[0]] > allowed:
        return None
    alone = len(near) == 1 or slips[near[1]] > slips[near[0]] + 1
    return near[0] if alone else None


def distance(one: str, other: str) -> int:
    """The edit distance: an added, missing or changed letter, or two exchanged neighbours, counts one."""
    if abs(len(one) - len(other)) > 2:
        return 3
    rows = [list(range(len(other) + 1))]
    for index, own in enumerate(one, 1):
        row = [index]
        for column, its in enumerate(other, 1):
            best = min(rows[-1][column] + 1, row[-1] + 1, rows[-1][column - 1] + (own != its))
            if index > 1 and column > 1 and own == other[column - 2] and one[index - 2] == its:
                best = min(best, rows[-2][column - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


def _closest(text: str, candidates: Iterable[str]) -> str | None:
    """The close one, ignoring case and underscores."""
    if len(text) > _LONGEST:
        return None
    names = {_plain(name): name for name in islice(candidates, _MOST_KNOWN) if len(name) <= _LONGEST}
    close = get_close_matches(_plain(text), names, n=1, cutoff=0.75)
    return names[close[0]] if close else None


def _singular(plain: str) -> str:
    return f"{plain[:-3]}y" if plain.endswith("ies") else plain.removesuffix("s")


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
