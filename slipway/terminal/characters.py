"""What a terminal may get: colours if they are wanted, and of a job nothing that moves its cursor."""

import os
import re
from typing import TextIO

RESET = "\x1b[0m"
#: Control sequences of terminals (ECMA-48); those that end with m set colours.
_SEQUENCE = re.compile(r"(\x1b\[[0-?]*[ -/]*[@-~])")
_COLOUR = re.compile(r"\x1b\[([0-9;:]*)m", re.ASCII)
#: Parameters of such a sequence: an extended colour with its numbers, or one; 8 conceals what follows.
_PARAMETER = re.compile(r"[345]8(?:;5;\d*|;2(?:;\d*){0,3})|[^;]*")
_CONCEALED = 8
#: What has no ink, though Python takes it for printable: Unicode's Default_Ignorable_Code_Point, and a blank.
_NO_INK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def coloured(stream: TextIO) -> bool:
    """Whether a stream is a terminal whose user wants colours (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def harmless(text: str, *, colour: bool) -> str:
    """A line for a terminal: of control sequences only colours are left, if any, and all else is visible.

    A carriage return would let a line overwrite another, so it ends one.
    """
    parts = [
        _plain(part) if not number % 2 else part if colour and _is_colour(part) else ""
        for number, part in enumerate(_SEQUENCE.split(text.rstrip("\r")))
    ]
    reset = RESET if any(parts[1::2]) else ""
    return "".join(parts) + reset


def one_line(text: str, *, colour: bool = False) -> str:
    """The same, and one line, also where it has several."""
    return harmless(text, colour=colour).replace("\n", "\\r")


def printable(name: str) -> str:
    """A name from outside: nothing in it moves the cursor, and nothing is left out."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else _code_of(c) for c in name)


def inked(name: str) -> str:
    """The same, and a character that a terminal shows as nothing is an escape."""
    return _NO_INK.sub(lambda match: _code_of(match[0]), printable(name))


def _is_colour(sequence: str) -> bool:
    """Whether a control sequence sets colours, and conceals nothing."""
    match = _COLOUR.fullmatch(sequence)
    return match is not None and not any(
        one.isdecimal() and int(one) == _CONCEALED for one in _PARAMETER.findall(match[1])
    )


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() or c == "\t" else "\n" if c == "\r" else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()


def _code_of(letter: str) -> str:
    from shared.core.visible import code_of  # few commands ever need it

    return code_of(letter)
