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
    """A name as no other is shown: an invisible character is an escape, and a backslash is doubled."""
    return "".join(letter if _is_visible(letter) and letter != "\\" else code_of(letter) for letter in name)


def code_of(letter: str) -> str:
    r"""The escape of a character.

    `\xff` is a byte that is not UTF-8, which Python has as half of a surrogate pair; U+00FF is `\u00ff`.
    """
    code = ord(letter)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if 0x7F < code < 0x100 else letter.encode("unicode_escape").decode()


def _is_visible(letter: str) -> bool:
    return letter.isprintable() or unicodedata.category(letter) == "Zs"
