"""scripts_of: the files that a folder's job names, and a blob that may be meant by one that is missing."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from posixpath import normpath
from typing import Any, NamedTuple

from shared.core.ports import Blob, Ports
from shared.jobspec import character_flaw, complete, name_flaw, quote, scripts_possible, scripts_wanted
from shared.lifecycle.current_teams import current_teams, readable_beside


class Scripts(NamedTuple):
    """The blobs that a job names, in order of names, and the names that have no blob.

    `of_others`: names in folders of other teams, of which nothing is looked at.
    """

    scripts: tuple[Blob, ...]
    absent: tuple[str, ...]
    of_others: tuple[str, ...] = ()


class Named(NamedTuple):
    """The names of blobs in a job's document: those that it needs, and those that it may mean."""

    needed: tuple[str, ...]
    possible: tuple[str, ...]


def names_in(ports: Ports, document: Any, folder: str) -> Named:
    """The names in the document of a folder's job."""
    completed, _ = complete(document, ports.policy.completion, folder=folder.rstrip("/"))
    place = {"container": ports.policy.drop_container, "account": ports.policy.completion.drop_account}
    return Named(scripts_wanted(completed, **place), scripts_possible(completed, **place))


async def scripts_of(ports: Ports, document: Any, folder: str, blobs: Sequence[Blob]) -> Scripts:
    """The blobs that the job of a folder names; `blobs` are the files directly in it."""
    needed, possible = names_in(ports, document, folder)
    is_readable = await readable_beside(ports, folder)
    names = [name for name in needed if is_readable(name)]
    have, scripts = {blob.name: blob for blob in blobs}, dict[str, Blob]()
    for name in (*names, *filter(is_readable, possible)):
        blob = have.get(name) or await exact(ports, name)
        if blob is not None:
            scripts[name] = blob
    present = tuple(scripts[name] for name in sorted(scripts))
    of_others = tuple(name for name in needed if not is_readable(name))
    return Scripts(present, tuple(name for name in names if name not in scripts), of_others)


async def usable_above(ports: Ports, folder: str) -> Callable[[str], bool]:
    """Whether the jobs of a folder may be made by a template in another one, above it.

    By those of its team, and of folders that belong to none, where an operator puts one for all. Others may
    hold what only their team knows.
    """
    teams = await current_teams(ports)
    own = teams.of_drop(folder)
    return lambda other: teams.of_drop(other) == own or not teams.of_folder(other)


async def exact(ports: Ports, name: str) -> Blob | None:
    """The blob of just this name."""
    return None if name_flaw(name) else await ports.drops.find(name)


async def named_alike(ports: Ports, name: str, folder: str, blobs: Sequence[Blob]) -> str:
    """A sentence about a blob that may be meant by the name of a missing one; "" if there is none.

    None in a folder of another team is named.
    """
    own = name[: name.rfind("/") + 1]
    names, after, more = [blob.name for blob in blobs], "", own != folder
    while more:
        page = await ports.drops.page(own, deep=False, after=after)
        names += [blob.name for blob in page.blobs]
        after, more = page.next, bool(page.next)
    is_readable = await readable_beside(ports, folder)
    if hint := alike(name, filter(is_readable, names)):
        return hint
    # A folder may be spelt differently, too, or have an empty level.
    page = await ports.drops.page(folder, deep=True)
    return alike(name, filter(is_readable, (blob.name for blob in page.blobs)))


def alike(name: str, names: Iterable[str]) -> str:
    """The same, of these names."""
    for other in sorted(names):
        if other != name and (difference := _difference(name, other)):
            return f"; there is {quote(other, 200)}, which {difference}"
    return ""


def _difference(name: str, other: str) -> str:
    """How another name differs from the one that is meant; "" if it is something else."""
    composed, other_composed = _composed(name), _composed(other)
    if (flaw := name_flaw(other)) and _composed(_as_read(other)) == composed:
        return flaw
    if composed == other_composed:
        form = "separate accents (NFD)" if other != other_composed else "composed letters (NFC)"
        return f"looks the same, but is written with {form}"
    folded, other_folded = composed.casefold(), other_composed.casefold()
    if composed.lower() == other_composed.lower():
        return "differs in case"
    if _plain(folded) == _plain(other_folded) and folded != other_folded:
        return "differs in spaces, or in a dot at an end"
    if different := _compatible(composed, other_composed):
        return different
    if folded == other_folded:
        return "differs in case"
    if other_folded.startswith(f"{folded}.") and "/" not in other_folded[len(folded) :]:
        return f"has {quote(other[len(name) :], 30)} at its end"
    if folded.startswith(f"{other_folded}.") and "/" not in folded[len(other_folded) :]:
        return f"lacks {quote(name[len(other) :], 30)} at its end"
    return ""


def _compatible(name: str, other: str) -> str:
    """The difference of names by the form of a character: a ligature, a small digit, a wide letter."""
    plain, other_plain = (unicodedata.normalize("NFKC", one) for one in (name, other))
    if plain == other_plain:
        return "looks alike, but is written with other characters (compatibility forms)"
    if (plain, other_plain) != (name, other) and plain.casefold() == other_plain.casefold():
        return "differs in case, and in compatibility forms of its characters"
    return ""


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _as_read(name: str) -> str:
    """The path for which a person takes a name that has characters or levels which nothing can request."""
    characters = (c for c in name.replace("\\", "/") if not character_flaw(c))
    return normpath("".join(characters)).lstrip("/")


def _plain(name: str) -> str:
    """The name with ordinary spaces, single and inside, and without what some systems drop at an end."""
    return "/".join(" ".join(level.split()).rstrip(".") for level in name.split("/"))
