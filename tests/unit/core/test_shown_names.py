"""No two names are shown alike: neither in a list of the API nor by the command."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from shared.core.visible import escaped
from shared.snapshots.listing import as_text
from slipway.client.snapshot.words import shown_name
from slipway.terminal.characters import printable

#: A byte that is not UTF-8, and the character of the same number; controls, what hides, and a backslash.
_ODD = ("\udc81", "\x81", "\udce9", "é", "\x1b", "\n", "\u202e", "\u00a0", "\ufffd", "\\", "\\\\", "a")


@pytest.mark.parametrize("show", [escaped, as_text, shown_name])
def test_a_name_that_is_what_another_one_is_shown_as_is_shown_otherwise(show: Callable[[str], str]) -> None:
    names = {*_ODD}
    for _ in range(3):  # the texts that these give, and what those give
        names |= {
            shown for name in names for shown in (escaped(name), as_text(name), printable(name), show(name))
        }

    assert len({show(name) for name in names}) == len(names)
    for name in names:
        show(name).encode()


#: What has no ink, but is a letter, a mark or a symbol.
_NO_INK = ("\u034f", "\u115f", "\u1160", "\u17b4", "\u180b", "\u180f", "\u2800", "\u3164", "\uffa0")
_SELECTORS = ("\ufe00", "\ufe0f", "\U000e0100", "\U000e01ef")


_OTHERS = ("\u200b", "\u202e", "\u00a0", "\U000e0041")


@pytest.mark.parametrize("letter", [*_NO_INK, *_SELECTORS, *_OTHERS], ids=ascii)
def test_a_character_without_ink_is_shown_by_its_number(letter: str) -> None:
    shown = shown_name(f"train{letter}.py")

    assert shown.isascii()
    assert shown.startswith("train\\")
