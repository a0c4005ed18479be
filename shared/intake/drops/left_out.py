"""What of a dropped folder is not part of its job, in a sentence that names some of it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from shared.jobspec import is_left_over, quote

#: How many names a sentence has, how many others it counts, and the characters of a name.
_NAMED, _COUNTED, _LENGTH = 3, 99, 40


class Others(NamedTuple):
    """What lies in a folder, or below it, and belongs to no drop or to another one, by full names.

    `ignored`: files; a folder ends with a slash. `drops`: folders that are drops of their own.
    """

    ignored: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()


def left_out(folder: str, others: Others, beside: Collection[str] = ()) -> str:
    """The sentence; "" where all of the folder is part of the job.

    `beside`: files of it that have the name of a folder.
    """
    hidden, refused = set[str](), set[str]()
    for name in others.ignored:
        short = name[len(folder) :]
        top = _first_left_over(short)
        (hidden if top else refused).add(top or short)
    drops = _topmost(one[len(folder) :] for one in others.drops)
    kinds = {
        "hidden files and folders of tools": hidden,
        "names that no node can show": refused,
        "files beside a folder of the same name": beside,
        "folders that are drops of their own": drops,
    }
    phrases = [f"{kind} ({some_of(names)})" for kind, names in kinds.items() if names]
    return f"left out: {', '.join(phrases)}" if phrases else ""


def some_of(names: Iterable[str]) -> str:
    """A few of these names, as a person wrote them, and how many others there are: it may be thousands."""
    ordered = sorted(names)
    rest = len(ordered) - _NAMED
    more = f" and {rest if rest <= _COUNTED else f'more than {_COUNTED}'} more" if rest > 0 else ""
    return ", ".join(quote(name, _LENGTH) for name in ordered[:_NAMED]) + more


def _first_left_over(name: str) -> str:
    """The path down to the first level that is left over; "" if none is."""
    levels = name.split("/")
    for number, level in enumerate(levels, 1):
        if is_left_over(level):
            return "/".join(levels[:number]) + ("/" if number < len(levels) else "")
    return ""


def _topmost(folders: Iterable[str]) -> list[str]:
    """The folders that are below none of the others."""
    top = list[str]()
    for folder in sorted(folders):
        if not top or not folder.startswith(top[-1]):
            top.append(folder)
    return top
