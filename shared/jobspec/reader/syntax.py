"""What is wrong with text that is not JSON, derived from the place where parsing stopped."""

from __future__ import annotations

import re
from typing import NamedTuple

from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Edit, Fix
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.brackets import CLOSING, OPENING, still_open
from shared.jobspec.text.lookalikes import INVISIBLE, MARKS, SPACES, WIDE, character_name

_SPACE = " \t\r\n"
_NAME = re.compile(r"[A-Za-z_$][\w$]{0,40}", re.ASCII)
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
#: What a shell reads in its own way, unless a backslash stands before it.
_OF_SHELL = tuple("()&|;*?<>#~[]{}=")
_NO_COMMA = "a comma is missing"
_TEXT_AFTER = "text after the end of the document"
_NO_SEPARATOR = "a comma or a closing bracket is missing"
#: What may stand at the start of a document, if only by mistake.
_STARTS = "{[\"'/#}],:=\\\u2018\u2019\u201c\u201d\u201e\uff02"
_NUMBER = re.compile(r"[+.\d-][\w.+-]{0,80}", re.ASCII)
_IN_NUMBERS = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.+-")
_BEFORE_VALUES = (":", "[", ",")
#: A comment to its end; a block that is not closed is none.
_COMMENT = re.compile(r"(?://|#)[^\r\n]*|/\*(?:[^*]|\*(?!/)){0,10000}\*/")
#: A whole text in other quotes, which holds nothing that would have to be escaped.
_QUOTED = re.compile(
    r"""'([^'"\\\r\n\t]{0,4096})'"""
    r"""|[\u2018\u2019]([^'"\\\r\n\t\u2018\u2019]{0,4096})\u2019"""
    r"""|[\u201c\u201d\u201e]([^"\\\r\n\t\u201c\u201d\u201e]{0,4096})[\u201c\u201d]"""
    r"""|\uff02([^"\\\r\n\t\uff02]{0,4096})\uff02"""
)
_MEMBER = re.compile(r'[ \t\r\n]*"[^"\\\r\n]{1,64}"[ \t]*:')
_FOLLOWING = re.compile(r"[ \t\r\n]*(?:[,:}\]\"]|$|//|/\*|#)")


class _Flaw(NamedTuple):
    """Where it is, what it is, what to type, how long it is, and what certainly mends it."""

    at: int
    message: str
    remedy: str
    length: int = 1
    edits: tuple[Edit, ...] = ()


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Both counted from 1, as editors do; the column in characters."""
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def syntax_problem(text: str, position: int, *, wants_colon: bool = False) -> Problem:
    """The problem for a text whose parsing stopped at `position`: what is wrong, where, what to type."""
    flaw = _diagnosis(text, position)
    if wants_colon and flaw.message in (_NO_COMMA, _NO_SEPARATOR):
        sure = flaw.message == _NO_COMMA or text[flaw.at] in "{["
        edits = (Edit(flaw.at, flaw.at, ":"),) if sure else ()
        flaw = flaw._replace(message="a colon is missing after the name", remedy='write ":"', edits=edits)
    line, column = line_and_column(text, flaw.at)
    return problem(
        "SW003",
        "",
        f"line {line}, column {column}: {flaw.message}",
        flaw.remedy,
        span=(flaw.at, min(flaw.at + flaw.length, len(text))),
        fix=Fix("text", edits=flaw.edits) if flaw.edits else None,
    )


def _diagnosis(text: str, offset: int) -> _Flaw:
    if not text.strip(_SPACE):
        return _Flaw(0, "the document is empty", 'write at least {"properties": {…}}')
    rest = text[offset : offset + 2]
    before = text[:offset].rstrip(_SPACE)
    strange = any(rest[:1] in named for named in (SPACES, INVISIBLE, MARKS, WIDE)) if rest else False
    if not before and not strange and rest[0] not in _STARTS and rest[0] >= " ":
        return _Flaw(offset, "this is not JSON, which starts with a bracket", 'write {"properties": {…}}')
    flaw = _at_character(text, offset, rest, before)
    if flaw:
        return flaw
    if offset >= len(text.rstrip(_SPACE)):
        return _early_end(text)
    opened = still_open(text[:offset])
    if rest[0] in "}]" and opened and text[opened[-1]] != OPENING[rest[0]]:
        line, column = line_and_column(text, opened[-1])
        message = f'"{rest[0]}" cannot close the "{text[opened[-1]]}" of line {line}, column {column}'
        return _Flaw(offset, message, f'write "{CLOSING[text[opened[-1]]]}", or delete it')
    if _complete_before(before):
        if opened:
            return _unseparated(text, offset)
        return _Flaw(offset, _TEXT_AFTER, "delete it")
    if before.endswith(("{", ",")) and opened and text[opened[-1]] == "{":
        return _Flaw(
            offset, "a name has to stand here", "write a name in double quotes, or a closing bracket"
        )
    return _Flaw(
        offset, "this is not JSON", "write a value, a quoted name, a comma or a closing bracket here"
    )


def _unseparated(text: str, offset: int) -> _Flaw:
    """Something other than a comma or a bracket after a whole value."""
    if text[offset] == ";":
        edits = (Edit(offset, offset + 1, ","),) if _MEMBER.match(text, offset + 1) else ()
        return _Flaw(offset, "a semicolon", 'write a comma: ","', 1, edits)
    if text[offset - 1] == '"' and text[offset] not in "{}[]:,":
        return _Flaw(offset, "the text ended at the quote before this", 'write \\" for a quote inside a text')
    return _Flaw(offset, _NO_SEPARATOR, 'write "," or a closing bracket')


def _number(text: str, offset: int) -> _Flaw | None:
    """A number of another language, of which JSON took at most the start: 0x10, 01, +1, .5, 1_000."""
    start = offset
    while start > 0 and offset - start < 40 and text[start - 1] in _IN_NUMBERS:
        start -= 1
    match = _NUMBER.match(text, start)
    if match is None or match.end() <= offset or text[:start].rstrip(_SPACE)[-1:] not in _BEFORE_VALUES:
        return None
    return _Flaw(start, "a number that JSON does not have", "write a plain number, such as 10", len(match[0]))


def _at_character(text: str, offset: int, rest: str, preceding: str) -> _Flaw | None:
    first = rest[:1]
    if strange := _strange(offset, first):
        return strange
    if first == "," and preceding.endswith(","):
        # In a list a value may have been forgotten; between two members nothing can have been.
        edits = (Edit(offset, offset + 1, ""),) if _MEMBER.match(text, offset + 1) else ()
        return _Flaw(offset, "a second comma", "delete one of them", 1, edits)
    if first == "," and _next_visible(text, offset + 1) in ("}", "]"):
        return _comma(offset)
    if first and first in "}]" and preceding.endswith(","):
        return _comma(len(preceding) - 1)
    if rest in ("//", "/*") or first == "#":
        match = _COMMENT.match(text, offset)
        edits = (Edit(offset, match.end(), ""),) if match else ()
        return _Flaw(offset, "JSON has no comments", "delete the comment", 2 if first == "/" else 1, edits)
    if first == "'":
        return _quotes(text, offset, "single quotes", 'write double quotes: "')
    if first and first in "\u2018\u2019\u201c\u201d\u201e\uff02":
        return _quotes(text, offset, "typographic quotes", 'write plain double quotes: "')
    if first == "=":
        edits = (
            (Edit(offset, offset + 1, ":"),) if preceding.endswith('"') and rest not in ("==", "=>") else ()
        )
        return _Flaw(offset, "an equals sign", 'write a colon: ":"', edits=edits)
    if first == "\\":
        return _backslash(offset, rest[1:])
    if first and (first < " " or _unclosed_string(text, offset)):
        return _in_string(text, offset)
    if first == '"':
        return _at_quote(text, offset, preceding)
    return _at_word(text, offset, preceding) or _number(text, offset)


def _strange(offset: int, first: str) -> _Flaw | None:
    """What only looks like a blank or a mark, or like nothing."""
    if first in SPACES or first in INVISIBLE:
        right, remedy = (" ", "write an ordinary space") if first in SPACES else ("", "delete it")
    elif first != "\uff02" and (right := MARKS.get(first) or WIDE.get(first) or ""):
        remedy = f"write {right}"
    else:
        return None
    return _Flaw(
        offset, f"the character {character_name(first)}", remedy, 1, (Edit(offset, offset + 1, right),)
    )


def _backslash(offset: int, rest: str) -> _Flaw:
    if rest in ("$", "'", "`", "!"):
        # A second backslash would reach the shell, which then takes the $ for a letter.
        return _Flaw(offset, f"a backslash before {rest}", "delete it", 1, (Edit(offset, offset + 1, ""),))
    if rest in _OF_SHELL:
        # The text does not show which of the two is meant.
        remedy = f"write \\\\{rest} if the shell is to take {rest} as it is, or {rest} alone"
        return _Flaw(offset, f"a backslash before {rest}", remedy)
    remedy = "write two backslashes, or a forward slash in paths"
    return _Flaw(offset, "a backslash that starts no escape", remedy)


def _at_word(text: str, offset: int, preceding: str) -> _Flaw | None:
    word = _NAME.match(text, offset)
    if word is None:
        return None
    length, ends = len(word[0]), bool(_FOLLOWING.match(text, word.end()))
    if word[0] in _PYTHON_WORDS:
        right = _PYTHON_WORDS[word[0]]
        corrections = (Edit(offset, word.end(), right),) if ends else ()
        return _Flaw(offset, "a word that JSON does not have", f"write {right}", length, corrections)
    if preceding.endswith(("{", ",")):
        named = re.match(r"[ \t]*[:=]", text[word.end() : word.end() + 9]) is not None
        edits = (Edit(offset, offset, '"'), Edit(word.end(), word.end(), '"')) if named else ()
        return _Flaw(offset, "a name without quotes", "put the name into double quotes", length, edits)
    if preceding.endswith(":"):
        return _Flaw(offset, "a value without quotes", "put text into double quotes", length)
    return None


def _comma(offset: int) -> _Flaw:
    return _Flaw(
        offset, "a comma before a closing bracket", "delete the comma", 1, (Edit(offset, offset + 1, ""),)
    )


def _quotes(text: str, offset: int, message: str, remedy: str) -> _Flaw:
    match = _QUOTED.match(text, offset)
    if match is None or not _FOLLOWING.match(text, match.end()):
        return _Flaw(offset, message, remedy)
    # The quotes only: what stands between them may be a secret, and edits are shown.
    end = match.end()
    return _Flaw(
        offset, message, remedy, len(match[0]), (Edit(offset, offset + 1, '"'), Edit(end - 1, end, '"'))
    )


def _at_quote(text: str, offset: int, preceding: str) -> _Flaw | None:
    if text[offset - 1] == '"':
        return _Flaw(
            offset, "two quotes in a row", 'write \\" for a quote inside a text, or a comma between texts'
        )
    if _complete_before(preceding):
        return _Flaw(len(preceding), _NO_COMMA, 'write ","', 1, (Edit(len(preceding), len(preceding), ","),))
    if preceding.endswith(("{", ",", ":", "[")):
        return None
    return _Flaw(offset, "a misplaced quote", "delete the quote")


def _in_string(text: str, offset: int) -> _Flaw:
    if text[offset] == "\n" or text[offset] == "\r":
        return _Flaw(
            offset, "a line break inside a text, or an unclosed text", 'write "\\n", or close the text'
        )
    if text[offset] == "\t":
        return _Flaw(
            offset, "a tab inside a text", 'write "\\t" or a space', 1, (Edit(offset, offset + 1, "\\t"),)
        )
    if text[offset] < " ":
        return _Flaw(offset, "a control character inside a text", "delete the character")
    return _Flaw(offset, "a text is not closed", "write the closing double quote")


def _early_end(text: str) -> _Flaw:
    """The document stops inside of something: name the innermost bracket that was never closed."""
    opened = still_open(text)
    end = len(text.rstrip(_SPACE))
    if not opened:
        return _Flaw(end, "the document ends early", "write the missing value", 0)
    line, column = line_and_column(text, opened[-1])
    bracket = text[opened[-1]]
    message = f'the document ends early: "{bracket}" of line {line}, column {column} is not closed'
    return _Flaw(end, message, f'write "{CLOSING[bracket]}"', 0)


def _unclosed_string(text: str, offset: int) -> bool:
    """Parsers report an unclosed text at its opening quote."""
    if text[offset] != '"':
        return False
    escaped = False
    for character in text[offset + 1 :]:
        if character == '"' and not escaped:
            return False
        escaped = character == "\\" and not escaped
    return True


def _complete_before(preceding: str) -> bool:
    """Whether a value ended just before, so that only a comma or a closing bracket could follow."""
    return preceding.endswith(('"', "}", "]")) or preceding[-1:].isalnum()


def _next_visible(text: str, offset: int) -> str:
    return text[offset:].lstrip(_SPACE)[:1]
