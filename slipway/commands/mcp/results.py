"""What a tool answers: what its command printed, as data of at most so many characters."""

from __future__ import annotations

import json
from typing import Any

#: The characters of an answer, and the texts and lists that are shortened, more and more, until it fits.
LONGEST = 20_000
_SHORTER = ((4_000, 200), (1_000, 50), (300, 20), (100, 10), (40, 3))
_CUT = "… (cut)"


def parsed(printed: str) -> Any:
    """What a command printed: one JSON document, a list of those of its lines, or a text."""
    try:
        return json.loads(printed)
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in printed.splitlines()]
    except (ValueError, RecursionError):
        return printed


def answer(code: int, printed: str) -> str:
    """The answer of a tool as JSON, in which a text cannot end what it is in."""
    content = parsed(printed)
    whole = {"exit": code, "data": content}
    text = json.dumps(whole, ensure_ascii=True)
    for characters, items in _SHORTER:
        if len(text) <= LONGEST:
            return text
        text = json.dumps({"exit": code, "cut": True, "data": _shortened(content, characters, items)})
    return text if len(text) <= LONGEST else json.dumps({"exit": code, "cut": True, "data": _CUT})


def error_of(printed: str) -> dict[str, Any] | None:
    """The error that a command printed as its last line; None where it printed none."""
    last = printed.strip().rpartition("\n")[2]
    content = parsed(last)
    error = content.get("error") if isinstance(content, dict) else None
    return _shortened(error, *_SHORTER[1]) if isinstance(error, dict) and "code" in error else None


def _shortened(content: Any, characters: int, items: int) -> Any:
    """A copy with shorter texts, and with the last items of lists: of a log, these count."""
    if isinstance(content, str):
        return content if len(content) <= characters else f"{content[:characters]}{_CUT}"
    if isinstance(content, list):
        last = content[-items:]
        return [
            *([_CUT] if len(last) < len(content) else []),
            *(_shortened(one, characters, items) for one in last),
        ]
    if isinstance(content, dict):
        pairs = list(content.items())[:items]
        short = {str(name)[:characters]: _shortened(one, characters, items) for name, one in pairs}
        return short if len(pairs) == len(content) else {**short, _CUT: True}
    return content
