"""Mistakes in a text at a quotation mark, in a string, or at the end."""

from __future__ import annotations

import re
from typing import NamedTuple

from shared.jobspec.problems.fix import Edit
from shared.jobspec.text.brackets import CLOSING, still_open

SPACE = " \t\r\n"
NO_COMMA = "a comma is missing"
#: A complete text in other quotes, with nothing inside that would need an escape.
_QUOTED = re.compile(
    r"""'([^'"\\\r\n\t]{0,4096})'"""
    r"""|[\u2018\u2019]([^'"\\\r\n\t\u2018\u2019]{0,4096})\u2019"""
    r"""|[\u201c\u201d\u201e]([^"\\\r\n\t\u201c\u201d\u201e]{0,4096})[\u201c\u201d]"""
    r"""|\uff02([^"\\\r\n\t\uff02]{0,4096})\uff02"""
)
FOLLOWING = re.compile(r"[ \t\r\n]*(?:[,:}\]\"]|$|//|/\*|#)")


class Flaw(NamedTuple):
    """A mistake: its position, a message, the remedy, its length, and its certain fix."""

    at: int
    message: str
    remedy: str
    length: int = 1
    edits: tuple[Edit, ...] = ()


def quotes(text: str, offset: int, message: str, remedy: str) -> Flaw:
    """A text in quotes that JSON does not have."""
    match = _QUOTED.match(text, offset)
    if match is None or not FOLLOWING.match(text, match.end()):
        return Flaw(offset, message, remedy)
    # Only the quotes: the text between them may be a secret, and edits are shown.
    end = match.end()
    return Flaw(
        offset, message, remedy, len(match[0]), (Edit(offset, offset + 1, '"'), Edit(end - 1, end, '"'))
    )


def at_quote(text: str, offset: int, preceding: str) -> Flaw | None:
    """The mistake at a quotation mark; None if it is allowed there."""
    if text[offset - 1] == '"':
        return Flaw(
            offset, "two quotes in a row", 'write \\" for a quote inside a text, or a comma between texts'
        )
    if complete_before(preceding):
        return Flaw(len(preceding), NO_COMMA, 'write ","', 1, (Edit(len(preceding), len(preceding), ","),))
    if preceding.endswith(("{", ",", ":", "[")):
        return None
    return Flaw(offset, "a misplaced quote", "delete the quote")


def in_string(text: str, offset: int) -> Flaw:
    """A character that a string must not contain."""
    if text[offset] == "\n" or text[offset] == "\r":
        return Flaw(
            offset, "a line break inside a text, or an unclosed text", 'write "\\n", or close the text'
        )
    if text[offset] == "\t":
        return Flaw(
            offset, "a tab inside a text", 'write "\\t" or a space', 1, (Edit(offset, offset + 1, "\\t"),)
        )
    if text[offset] < " ":
        return Flaw(offset, "a control character inside a text", "delete the character")
    return Flaw(offset, "a text is not closed", "write the closing double quote")


def early_end(text: str) -> Flaw:
    """The document ends too early: name the innermost bracket that was never closed."""
    opened = still_open(text)
    end = len(text.rstrip(SPACE))
    if not opened:
        return Flaw(end, "the document ends early", "write the missing value", 0)
    line, column = line_and_column(text, opened[-1])
    bracket = text[opened[-1]]
    message = f'the document ends early: "{bracket}" of line {line}, column {column} is not closed'
    return Flaw(end, message, f'write "{CLOSING[bracket]}"', 0)


def unclosed_string(text: str, offset: int) -> bool:
    """Parsers report an unclosed text at its opening quote."""
    if text[offset] != '"':
        return False
    escaped = False
    for character in text[offset + 1 :]:
        if character == '"' and not escaped:
            return False
        escaped = character == "\\" and not escaped
    return True


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Both counted from 1, as editors do; the column in characters."""
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def complete_before(preceding: str) -> bool:
    """Whether a value ended just before, so that only a comma or a closing bracket may follow."""
    return preceding.endswith(('"', "}", "]")) or preceding[-1:].isalnum()
