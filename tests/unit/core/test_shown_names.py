"""No two names are shown alike: neither in a list of the API nor by the command."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from shared.core.visible import escaped
from shared.snapshots.listing import as_text
from slipway.terminal.characters import printable

#: A byte that is not UTF-8, and the character of the same number; controls, what hides, and a backslash.
_ODD = ("\udc81", "\x81", "\udce9", "é", "\x1b", "\n", "\u202e", "\u00a0", "\ufffd", "\\", "\\\\", "a")


def as_the_command_lists(name: str) -> str:
    """A name of the code of a job, which the API answers as text."""
    return printable(as_text(name))


@pytest.mark.parametrize("show", [escaped, as_text, as_the_command_lists])
def test_a_name_that_is_what_another_one_is_shown_as_is_shown_otherwise(show: Callable[[str], str]) -> None:
    names = {*_ODD}
    for _ in range(3):  # the texts that these give, and what those give
        names |= {
            shown for name in names for shown in (escaped(name), as_text(name), printable(name), show(name))
        }

    assert len({show(name) for name in names}) == len(names)
    for name in names:
        show(name).encode()
