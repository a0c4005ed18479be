"""Finds the parts of a person's text that must not be shown: ranges of characters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import pairwise

from shared.jobspec.format.secrets import is_secret_item, is_secret_name, is_value, names_secret_variable
from shared.jobspec.secrets.embedded import embedded_secrets, sealed_texts
from shared.jobspec.text.position import Entry, Positions

#: The member for an address, in which even the path may be a password.
_ADDRESSES = "url"
_WORD = re.compile(r"[^\s{}\[\]:,=;\"'\u2018\u2019\u201c\u201d\u201e]+")
_HARMLESS_WORD = re.compile(r"-?\d{1,3}|//|/\*|\*/|#|\$?AZ_BATCHAI_[A-Z_]{1,40}")
#: What may be directly before and after a word that is alone, if anything.
_ENDS = ("", *"{}[]:,=\"'\u2018\u2019\u201c\u201d\u201e")
#: Records hold its digest alone: a sender may have made it of something secret.
_KEY = "idempotencyKey"
_LITERALS = ("true", "false", "null", "True", "False", "None", "NaN", "Infinity", "undefined")


def secret_ranges(positions: Positions, unknown: Collection[str]) -> list[tuple[int, int]]:
    """The values of secrets under any name, and texts in the properties of `unknown` and below them.

    Walks the text, not the document, so that the first of two duplicates is covered as well.
    """
    secret: list[bool] = []
    hidden: list[bool] = []
    variables = _secret_variables(positions)
    items = _secret_items(positions)
    ranges: list[tuple[int, int]] = []
    for entry in positions.entries:
        below = entry.parent >= 0
        named = entry.key is not None
        inherited = below and secret[entry.parent]
        holder = positions.entries[entry.parent].name if below else ""
        own = is_secret_name(entry.name, below=inherited, holder=holder) if named else inherited
        of_variable = entry.parent in variables and is_value(entry.name)
        secret.append(own or of_variable or entry.start in items or entry.name == _KEY)
        hidden.append(entry.pointer in unknown or (below and hidden[entry.parent]))
        if entry.key:
            ranges += _in_name(positions.text, entry.key)
        ranges += _in_value(positions, entry, secret=secret[-1], hidden=hidden[-1])
    return ranges


def unknown_words(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """For a text that is not JSON: everything except punctuation and words of the format."""
    vocabulary = _vocabulary()
    return [
        match.span()
        for match in _WORD.finditer(text, start, end)
        if not (
            _HARMLESS_WORD.fullmatch(match[0]) or (match[0] in vocabulary and _alone(text, *match.span()))
        )
    ]


def _alone(text: str, start: int, end: int) -> bool:
    """Whether the word is not part of a phrase, which might be a pass phrase."""
    before, behind = text[max(0, start - 20) : start].rstrip(), text[end : end + 20].lstrip()
    return before[-1:] in _ENDS and behind[:1] in _ENDS


def _in_name(text: str, key: tuple[int, int]) -> Iterator[tuple[int, int]]:
    name = text[key[0] + 1 : key[1] - 1]
    if name in _vocabulary():
        return
    for start, end in _hidden_parts(name):
        yield key[0] + 1 + start, key[0] + 1 + end


def _in_value(positions: Positions, entry: Entry, *, secret: bool, hidden: bool) -> Iterator[tuple[int, int]]:
    first = positions.text[entry.start]
    if first in "{[":
        return
    if first != '"':
        if secret and positions.text[entry.start : entry.end] not in _LITERALS:
            yield entry.start, entry.end
        return
    inner = entry.start + 1, entry.end - 1
    if secret or hidden or (entry.name == _ADDRESSES and entry.key):
        yield inner
        return
    raw = positions.text[inner[0] : inner[1]]
    if "\\" in raw and any(_hidden_parts(positions.decoded(entry) or "")):
        yield inner
        return
    for start, end in _hidden_parts(raw):
        yield inner[0] + start, inner[0] + end


def _hidden_parts(text: str) -> Iterator[tuple[int, int]]:
    """Secrets inside a text, and texts that look sealed, which may be copied from another job."""
    yield from embedded_secrets(text)
    yield from (sealed.span() for sealed in sealed_texts(text))


def _secret_variables(positions: Positions) -> set[int]:
    """Objects whose `name` shows that their `value` is a secret."""
    return {
        entry.parent
        for entry in positions.entries
        if entry.key and names_secret_variable(entry.name, positions.decoded(entry))
    }


def _secret_items(positions: Positions) -> set[int]:
    """The starts of list items that the previous item makes secret."""
    return {
        entry.start
        for before, entry in pairwise(positions.entries)
        if entry.key is None and entry.parent == before.parent and before.key is None
        if is_secret_item(positions.decoded(before), positions.decoded(entry))
    }


@lru_cache(maxsize=1)
def _vocabulary() -> frozenset[str]:
    from shared.jobspec.known_names import format_words

    return frozenset((*format_words(), *_LITERALS))
