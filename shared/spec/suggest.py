"""Did you mean: the known name that a person most likely wanted."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

#: Comparing is quadratic in length, and nobody misspells a name of this size.
_LONGEST = 64
#: Among more names than this nobody can have meant one.
_MOST_KNOWN = 100
#: Suggestions for one document; more than that are never read, and each one costs.
_MOST = 200


class Suggestions:
    """The did-you-means for one document. Their number is bounded, so that no document keeps us busy."""

    def __init__(self) -> None:
        self._left = _MOST

    def did_you_mean(self, written: str, known: Iterable[str]) -> str:
        """A piece of a message: `; did you mean "…"?`, or nothing when no known name is close."""
        self._left -= 1
        close = _closest(written, known) if self._left >= 0 else None
        return f'; did you mean "{close}"?' if close else ""


def _closest(written: str, known: Iterable[str]) -> str | None:
    """The one that is close whatever its case and underscores."""
    if len(written) > _LONGEST:
        return None
    names = {_plain(name): name for name in islice(known, _MOST_KNOWN) if len(name) <= _LONGEST}
    close = get_close_matches(_plain(written), names, n=1, cutoff=0.75)
    return names[close[0]] if close else None


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
