"""Finds fields that a server dropped: old servers drop fields that they do not know. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

_QUANTITY = re.compile(r"([+-]?\d+(?:\.\d*)?|\.\d+)(m|k|[KMGTPE]i?|)", re.ASCII)
_UNITS: Mapping[str, Decimal] = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    "k": Decimal(1000),
    **{unit: Decimal(1000) ** power for power, unit in enumerate("KMGTPE", 1)},
    **{f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", 1)},
}
#: Kueue's webhook sets these in the answer.
_THEIRS = frozenset({"spec.suspend"})


def dropped(document: Any, answered: Any, place: str = "") -> Iterator[str]:
    """The path of each field that did not come back with its value. Additional fields are fine."""
    if document == answered or place in _THEIRS or (_is_empty(document) and _is_empty(answered)):
        return
    if isinstance(document, Mapping) and isinstance(answered, Mapping):
        # Most of an object comes back unchanged: that takes one comparison.
        changed = ((name, value) for name, value in document.items() if value != answered.get(name))
        for name, value in changed:
            yield from dropped(value, answered.get(name), f"{place}.{name}" if place else str(name))
    elif _is_list(document) and _is_list(answered) and len(document) <= len(answered):
        for index, value in enumerate(document):
            if value != answered[index]:
                yield from dropped(value, answered[index], f"{place}[{index}]")
    elif not _same_quantity(document, answered):
        yield place


def _is_empty(value: Any) -> bool:
    """Whether a server treats the value as absent."""
    return value is None or value is False or value in ("", 0) or (hasattr(value, "__len__") and not value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _same_quantity(document: Any, answered: Any) -> bool:
    one, other = _amount(document), _amount(answered)
    return one is not None and one == other


def _amount(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    match = _QUANTITY.fullmatch(str(value))
    return Decimal(match[1]) * _UNITS[match[2]] if match else None
