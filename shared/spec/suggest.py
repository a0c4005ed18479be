"""Did you mean: the known name that a person most likely wanted."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

#: Comparing is quadratic in length, and nobody misspells a name of this size.
_LONGEST = 64


def suggestion(written: str, known: Iterable[str]) -> str | None:
    """The one known name that is close, whatever its case and underscores; else None."""
    if len(written) > _LONGEST:
        return None
    names = {_plain(name): name for name in known}
    close = get_close_matches(_plain(written), names, n=1, cutoff=0.75)
    return names[close[0]] if close else None


def did_you_mean(written: str, known: Iterable[str]) -> str:
    """The same as a piece of a message, empty when nothing is close."""
    close = suggestion(written, known)
    return f'; did you mean "{close}"?' if close else ""


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
