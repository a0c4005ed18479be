"""Secrets inside of a text: in addresses, command lines and connection strings, keys on their own. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

MASK = "***"
#: How a sealed text starts, as it stands in a stored document in place of a value or inside of one.
SEALED = "sealed:v1:"

_SEALED = re.compile(rf"{SEALED}[A-Za-z0-9_-]+={{0,2}}")
#: Signatures and keys inside of addresses and connection strings.
_NAMED = re.compile(r"(?i)\b(sig|code|accountkey|sharedaccesskey|access_token|token|password)=[^&;\s\"']+")
_QUERY = re.compile(r"(https?://[^\s\"'?]{0,512})\?[^\s\"']*")
_USER = re.compile(r"(https?://)[^\s\"'/@]{1,256}@")
#: Keys of storage accounts, and signing keys: never shown, even where a person wrote one as a name.
_KEY_MATERIAL = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40,400}={1,2}|whs(?:ec|k)_[A-Za-z0-9+/=]{8,400}")


def embedded_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Where secrets stand inside of addresses, connection strings and arguments: ranges of characters."""
    if "?" in text:
        yield from ((found.end(1) + 1, found.end()) for found in _QUERY.finditer(text))
    if "@" in text:
        yield from ((found.end(1), found.end() - 1) for found in _USER.finditer(text))
    if "=" in text:
        yield from ((found.end(1) + 1, found.end()) for found in _NAMED.finditer(text))
    yield from key_material(text)


def without_embedded(text: str) -> str:
    """The text with such secrets masked, sealed ones included; keys on their own stay."""
    if SEALED in text:
        text = _SEALED.sub(MASK, text)
    if "?" in text:
        text = _QUERY.sub(rf"\1?{MASK}", text)
    if "@" in text:
        text = _USER.sub(rf"\1{MASK}@", text)
    return _NAMED.sub(lambda found: f"{found[1]}={MASK}", text) if "=" in text else text


def key_material(text: str) -> Iterator[tuple[int, int]]:
    """Where keys stand in a text that should hold none: ranges of characters."""
    if "=" not in text and "whs" not in text:  # every key has one of them, and most texts have none
        return iter(())
    return (found.span() for found in _KEY_MATERIAL.finditer(text))


def without_secrets(text: str) -> str:
    """The start of a text for a message or a pointer, without keys and without what is embedded."""
    return without_embedded(_KEY_MATERIAL.sub(MASK, text[:1000])) if len(text) > 12 else text


def sealed_texts(text: str) -> Iterator[re.Match[str]]:
    """What is sealed, or looks like it."""
    return _SEALED.finditer(text) if SEALED in text else iter(())


def ranges_to_seal(text: str) -> list[tuple[int, int]]:
    """What of a text has to be sealed: ranges of characters that do not overlap, in order."""
    merged: list[tuple[int, int]] = []
    looks = (found.span() for found in sealed_texts(text))
    for start, stop in sorted((*embedded_secrets(text), *looks)):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        else:
            merged.append((start, stop))
    return merged
