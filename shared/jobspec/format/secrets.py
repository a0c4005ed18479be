"""Finds the secret values of a document, to seal them or to mask them.

A sealed text is marked: it can be opened even if a later version of this list differs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

from shared.jobspec.secrets.embedded import (
    MASK,
    may_be_sealed,
    may_embed,
    ranges_to_seal,
    recognised,
    replaced,
    sealed_texts,
    without_embedded,
)
from shared.jobspec.text.tree import JsonObject, copied, step, words

#: Wire names of secret values, in lowercase; misspelt ones count too.
_SECRETS = ("accountkey", "password", "adminuserpassword", "instrumentationkey")
#: Pieces that mark an unknown name as secret.
_BETRAYING = (
    *("accountkey", "accesskey", "storagekey", "apikey", "instrumentationkey"),
    *("password", "passwd", "sastoken", "secretvalue", "credential"),
)
_BETRAYING_NAMES = ("token", "secret", "key", "pwd", "connectionstring", "sas")
#: Objects and lists of secrets, except for the values that are listed as plain.
_CONTAINERS = ("credentials", "secrets")
_PLAIN = ("name", "username", "id", "sourcevault", "secreturl")
#: Names in the formats that are similar to these but hold no secret.
_HARMLESS = frozenset({"idempotencykey", "adminusername", "value"})
_VARIABLE = re.compile(
    r"(?:PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|TOKEN|CREDENTIALS?|API_?KEY|_KEY|STRING|_SAS"
    r"|(?:\b|_)(?:AUTH|PASS|PW|PAT|CREDS?))$",
    re.MULTILINE,
)
#: How a line ends in which that finds something: most have none of them, which is quickly seen.
_ENDS = (
    *("PASSWORD", "PASSWD", "PASSPHRASE", "PWD", "SECRET", "TOKEN", "CREDENTIAL", "CREDENTIALS", "APIKEY"),
    *("_KEY", "STRING", "_SAS", "AUTH", "PASS", "PW", "PAT", "CRED", "CREDS"),
)
#: The members for a variable's name and value, here and in other formats.
_NAMES = frozenset(form for one in ("name", "key", "variable") for form in (one, one.title(), one.upper()))
_VALUES = frozenset(("value", "Value", "VALUE"))
#: Objects from variables' names to values: names in them match in upper and lower case.
_ENVIRONMENT = "env"
#: Misspelt: at most this many letters differ.
_CLOSE = 2
_LONGEST_NAME = 256


class _SecretSlot(NamedTuple):
    pointer: str
    parent: Any
    key: Any
    secret: bool


def redact(document: Any) -> Any:
    """A copy that may be shown: every secret value is masked. Takes any JSON, valid or not."""
    whole = [copied(document)]
    for slot in _leaves(whole):
        value = slot.parent[slot.key]
        if slot.secret and value is not None and not isinstance(value, bool):
            slot.parent[slot.key] = MASK
        elif isinstance(value, str):
            slot.parent[slot.key] = without_embedded(value)
    return whole[0]


def masked(document: JsonObject, pointers: Collection[str]) -> JsonObject:
    """A copy with everything at and below these places masked."""
    whole: JsonObject = copied(document)
    below = tuple(f"{pointer}/" for pointer in pointers)
    for slot in _leaves([whole]):
        if slot.pointer in pointers or slot.pointer.startswith(below):
            slot.parent[slot.key] = MASK
    return whole


def seal_secrets(document: JsonObject, seal: Callable[[str, str], str]) -> JsonObject:
    """The document with `seal(pointer, value)`, a text that starts with SEALED, in place of each secret.

    Returns a copy, or the document itself if it certainly has no secret. In an address or a command line
    only the secret part is replaced. A text that only looks sealed counts as a secret, so that
    `open_secrets` never meets one that a person wrote.
    """

    def change(slot: _SecretSlot, value: str) -> str:
        ranges = [(0, len(value))] if slot.secret else ranges_to_seal(value)
        return replaced(value, ranges, partial(seal, slot.pointer))

    return _with_changes(document, change) if _any_secret(document) else document


def open_secrets(document: JsonObject, unseal: Callable[[str, str], str]) -> JsonObject:
    """The document with `unseal(pointer, text)` in place of everything that `seal_secrets` put there.

    Returns a copy, or the document itself if nothing is sealed.
    """

    def change(slot: _SecretSlot, value: str) -> str:
        ranges = [sealed.span() for sealed in sealed_texts(value)]
        return replaced(value, ranges, partial(unseal, slot.pointer))

    return _with_changes(document, change) if may_be_sealed(document) else document


def _any_secret(document: JsonObject) -> bool:
    """Whether there may be a secret: cheaper than finding places, and most documents have none."""
    secrets = words(document)
    text = "\n".join(secrets.texts)
    named = any(_holds_secret(name, below=False) for name in secrets.names)
    looks = any_looks_secret("\n".join((text, *secrets.names)))
    # Options, whose value is the next item. Variables before their values are found by their looks.
    before = any(is_secret_item(one, "x") for one in secrets.texts if one.startswith("-"))
    return named or looks or before or may_embed(text)


def _with_changes(document: JsonObject, change: Callable[[_SecretSlot, str], str]) -> JsonObject:
    whole: JsonObject = copied(document)
    for slot in _leaves([whole]):
        value = slot.parent[slot.key]
        if isinstance(value, str):
            slot.parent[slot.key] = change(slot, value)
    return whole


def looks_secret_variable(name: str) -> bool:
    """Whether a variable of that name most likely holds a secret."""
    return bool(_VARIABLE.search(name[-64:].upper()))


def any_looks_secret(lines: str) -> bool:
    """Whether a line of the text may be such a name."""
    likely = [line for line in lines.upper().split("\n") if line.endswith(_ENDS)]
    return any(map(_VARIABLE.search, likely))


def is_secret_name(name: str, *, below: bool, holder: object = "") -> bool:
    """Whether the value under this name is secret.

    `below`: it is inside something secret; `holder`: the name of the object that contains it.
    """
    return _holds_secret(name, below=below, variables=_holds_variables(holder))


def _holds_variables(name: object) -> bool:
    return isinstance(name, str) and name[: len(_ENVIRONMENT)].lower() == _ENVIRONMENT


def is_secret_item(before: object, item: object) -> bool:
    """Whether the item before makes this one secret, as in `["--api-key", "x"]`, `["HF_TOKEN", "x"]`."""
    if not isinstance(before, str) or not isinstance(item, str) or len(before) > _LONGEST_NAME:
        return False
    if before.isupper() and looks_secret_variable(before):
        return True
    return before.startswith("-") and any(end > len(before) for _, end in recognised(f"{before} {item}"))


def names_secret_variable(member: str, text: object) -> bool:
    """Whether a member shows that the value beside it is that of a secret variable."""
    return member in _NAMES and isinstance(text, str) and looks_secret_variable(text)


def is_value(member: str) -> bool:
    """Whether it is the value beside the name of a variable."""
    return member in _VALUES


def _leaves(whole: list[Any]) -> Iterator[_SecretSlot]:
    """Every value but objects and lists, in document order. The document is the one item of `whole`."""
    stack = [_SecretSlot("", whole, 0, secret=False)]
    while stack:
        slot = stack.pop()
        value = slot.parent[slot.key]
        if isinstance(value, dict):
            variables = _holds_variables(slot.key)
            secret_value = not _NAMES.isdisjoint(value) and any(
                names_secret_variable(str(key), one) for key, one in value.items()
            )
            stack.extend(
                _SecretSlot(
                    step(slot.pointer, key),
                    value,
                    key,
                    secret=_holds_secret(str(key), below=slot.secret, variables=variables)
                    or (secret_value and is_value(str(key))),
                )
                for key in reversed(value)
            )
        elif isinstance(value, list):
            stack.extend(
                _SecretSlot(
                    step(slot.pointer, index),
                    value,
                    index,
                    slot.secret or (index > 0 and is_secret_item(value[index - 1], value[index])),
                )
                for index in reversed(range(len(value)))
            )
        else:
            yield slot


def _holds_secret(key: str, *, below: bool, variables: bool = False) -> bool:
    """Whether the value under this key is secret."""
    plain = _normal(key[:128])
    if plain in _PLAIN:
        return False
    # A reference holds no secret, so any further member may be one.
    if below or plain.endswith("secretreference") or _betrays(plain):
        return True
    # Variables as members: {"HF_TOKEN": "x"}.
    return (variables or key.isupper()) and looks_secret_variable(key)


@lru_cache(maxsize=4096)
def _betrays(plain: str) -> bool:
    if plain in _HARMLESS:
        return False
    if plain in _BETRAYING_NAMES or any(piece in plain for piece in _BETRAYING):
        return True
    return any(_resembles(plain, name) for name in (*_SECRETS, *_CONTAINERS))


def _resembles(one: str, other: str) -> bool:
    """Whether two names differ by at most two edits."""
    if abs(len(one) - len(other)) > _CLOSE or min(len(one), len(other)) < 4:
        return False
    row = list(range(len(other) + 1))
    for index, own in enumerate(one, 1):
        previous, row = row, [index]
        for column, its in enumerate(other, 1):
            row.append(min(previous[column] + 1, row[-1] + 1, previous[column - 1] + (own != its)))
        if min(row) > _CLOSE:
            return False
    return row[-1] <= _CLOSE


def _normal(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()
