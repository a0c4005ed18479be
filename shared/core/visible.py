"""Which file names can be shown, typed and requested."""

from __future__ import annotations

import unicodedata


def is_visible(name: str) -> bool:
    """Whether a terminal shows every character; spaces of all kinds, such as U+00A0, count as shown."""
    return all(map(_is_visible, name))


def is_askable(name: str) -> bool:
    """Whether a file of this name can be requested: it is visible, and no system reads it as a path."""
    return is_visible(name) and "\\" not in name


def escaped(name: str) -> str:
    """A name with its invisible characters written as escapes."""
    return "".join(
        letter if _is_visible(letter) else letter.encode("unicode_escape").decode() for letter in name
    )


def _is_visible(letter: str) -> bool:
    return letter.isprintable() or unicodedata.category(letter) == "Zs"
