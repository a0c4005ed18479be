"""Checks the query of a request: each parameter is known to the call, is given once, and has a value."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import parse_qsl, urlsplit

import azure.functions as func

from shared.core.errors import Misuse

#: The function key and its name, which the host checks and passes on.
_OF_THE_HOST = frozenset({"code", "clientid"})
_SHOWN = 40


def check_query(req: func.HttpRequest, parameters: Collection[str]) -> None:
    """Raise Misuse for the first parameter that is unknown, empty or repeated: none is ignored in silence.

    The host joins repeated values by commas, so the address is parsed to separate them.
    """
    pairs = parse_qsl(urlsplit(req.url).query, keep_blank_values=True) or list(req.params.items())
    names: set[str] = set()
    for name, value in pairs:
        if name.lower() in _OF_THE_HOST:
            continue
        if name not in parameters:
            raise Misuse(f"there is no parameter {name[:_SHOWN]!r}", remedy=_remedy(name, parameters))
        if not value:
            raise Misuse(f"the parameter {name} is empty", remedy="give it a value, or leave it out")
        if name in names:
            raise Misuse(f"the parameter {name} is given more than once", remedy="give it once")
        names.add(name)


def _remedy(name: str, parameters: Collection[str]) -> str:
    if not parameters:
        return "this call takes no parameters"
    from difflib import get_close_matches

    near = get_close_matches(name.lower()[:_SHOWN], parameters, n=1, cutoff=0.6)
    guess = f"did you mean {near[0]}? " if near else ""
    return f"{guess}this call takes {', '.join(parameters)}"
