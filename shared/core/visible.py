"""Which names of files can be shown, typed and asked for."""

from __future__ import annotations

import unicodedata


def is_visible(name: str) -> bool:
    """Whether every character is one that a terminal shows; spaces of all kinds, such as U+00A0, are."""
    return all(letter.isprintable() or unicodedata.category(letter) == "Zs" for letter in name)
