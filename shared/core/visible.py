"""How names of files are shown, and which of them can be requested."""

from __future__ import annotations

import unicodedata

from shared.jobspec import name_flaw


def is_visible(text: str) -> bool:
    """Whether a terminal shows every character; spaces of all kinds, such as U+00A0, count as shown."""
    return all(map(_is_visible, text))


def is_askable(name: str) -> bool:
    """Whether a file of this name can be requested; `name_flaw` gives the reason if it cannot."""
    return not name_flaw(name)


def escaped(name: str) -> str:
    """A name with its invisible characters written as escapes."""
    return "".join(
        letter if _is_visible(letter) else letter.encode("unicode_escape").decode() for letter in name
    )


def _is_visible(letter: str) -> bool:
    return letter.isprintable() or unicodedata.category(letter) == "Zs"
