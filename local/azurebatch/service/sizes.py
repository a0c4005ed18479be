"""Sizes of virtual machines, as far as their names say what they have. Pure."""

import re

_CORES = re.compile(r"(?:standard|basic)_[a-z]+(\d+)", re.IGNORECASE)


def cores_of(size: str) -> int | None:
    """The cores of a size; None if its name does not say so."""
    match = _CORES.match(size)
    return int(match[1]) if match else None
