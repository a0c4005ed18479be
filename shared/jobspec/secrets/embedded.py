"""Secrets inside a text: in addresses, command lines and connection strings, keys on their own. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from pydantic_core import to_json

from shared.jobspec.secrets.cookie_secrets import cookies
from shared.jobspec.secrets.input_secrets import input_ranges
from shared.jobspec.secrets.login_secrets import login_ranges
from shared.jobspec.secrets.named_secrets import named_ranges
from shared.jobspec.secrets.option_secrets import option_ranges
from shared.jobspec.secrets.pair_secrets import pair_ranges
from shared.jobspec.secrets.tokens import token_ranges

MASK = "***"
#: The prefix of a sealed text in a stored document, where it replaces a value or a part of one.
SEALED = "sealed:v1:"

_SEALED = re.compile(rf"{SEALED}[A-Za-z0-9_-]+={{0,2}}")
#: Characters that would be read as part of the sealed text before them.
_SEALABLE = re.compile(r"[A-Za-z0-9_=-]*", re.ASCII)
#: The query of an address, which may be a signature.
_QUERY = re.compile(r"https?://[^\s\"'?]{0,512}\?([^\s\"']+)")
#: A user with a password in an address; in a web address, a user alone may be a token.
_USER = re.compile(
    r"(?:https?://(?P<user>[^\s\"'/]{1,256})"
    r"|(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<pair>[^\s\"'/@:]{0,128}:[^\s\"']{1,256}))@"
)
_VARIABLE = re.compile(r"(?:[^:]*:)?\$(?:[A-Za-z_]\w*|\{\w+\})", re.ASCII)
#: Keys of storage accounts, and signing keys: never shown, even if a person used one as a name.
_KEY_MATERIAL = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40,400}={1,2}|whs(?:ec|k)_[A-Za-z0-9+/=]{8,400}")


def embedded_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of the secrets in addresses, connection strings and arguments."""
    if "?" in text:
        yield from (match.span(1) for match in _QUERY.finditer(text))
    yield from recognised(text)


def recognised(text: str) -> Iterator[tuple[int, int]]:
    """The same without mere queries of addresses: those that deserve a warning."""
    if "@" in text:
        yield from _users(text)
    yield from named_ranges(text)
    yield from option_ranges(text)
    yield from login_ranges(text)
    yield from input_ranges(text)
    yield from cookies(text)
    yield from pair_ranges(text)
    yield from token_ranges(text)
    yield from key_material(text)


@lru_cache(maxsize=1)
def any_recognised(text: str) -> bool:
    """Whether there is one. The last answer is kept: the rules and the seal ask about the same text."""
    return any(recognised(text))


def may_embed(text: str) -> bool:
    """Whether `ranges_to_seal` may find anything."""
    return any_recognised(text) or SEALED in text or bool(_QUERY.search(text))


def without_embedded(text: str) -> str:
    """The text with such secrets masked, sealed ones included."""
    return replaced(text, ranges_to_seal(text), lambda _: MASK)


def replaced(text: str, ranges: list[tuple[int, int]], change: Callable[[str], str]) -> str:
    """The text with `change(piece)` in place of each of these pieces."""
    pieces, position = [], 0
    for start, stop in ranges:
        pieces += [text[position:start], change(text[start:stop])]
        position = stop
    return "".join((*pieces, text[position:])) if pieces else text


def _users(text: str) -> Iterator[tuple[int, int]]:
    for match in _USER.finditer(text):
        kind = "user" if match["user"] is not None else "pair"
        if not _VARIABLE.fullmatch(match[kind]):
            yield match.span(kind)


def key_material(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of the keys in a text that should hold none."""
    if "=" not in text and "whs" not in text:  # every key has one of these, and most texts have neither
        return iter(())
    return (match.span() for match in _KEY_MATERIAL.finditer(text))


def without_secrets(text: str) -> str:
    """The start of a text for a message or a pointer, without its secrets."""
    return without_embedded(text[:1000]) if len(text) > 12 else text


def may_be_sealed(document: object) -> bool:
    """Whether something in the document may be sealed."""
    try:
        return SEALED.encode() in to_json(document)
    except ValueError:  # half of a surrogate pair, which UTF-8 cannot hold
        return True


def sealed_texts(text: str) -> Iterator[re.Match[str]]:
    """The texts that are sealed, or look like it."""
    return _SEALED.finditer(text) if SEALED in text else iter(())


def ranges_to_seal(text: str) -> list[tuple[int, int]]:
    """The ranges of characters to seal in a text; they are in order and do not overlap.

    A range includes neighbouring characters that would be read as part of the sealed text.
    """
    merged: list[tuple[int, int]] = []
    looks = (sealed.span() for sealed in sealed_texts(text))
    for first, last in sorted((*embedded_secrets(text), *looks)):
        if merged and last <= merged[-1][1]:
            continue
        start = first - len(SEALED) if text.endswith(SEALED, 0, first) else first
        stop = _SEALABLE.match(text, last).end()  # type: ignore[union-attr]
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], stop
        else:
            merged.append((start, stop))
    return merged
