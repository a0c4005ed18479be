"""The mistake in a text that is not JSON, derived from the place where parsing stopped."""

from __future__ import annotations

import re

from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Edit, Fix
from shared.jobspec.problems.problem import Problem
from shared.jobspec.reader.quotes import (
    FOLLOWING,
    NO_COMMA,
    SPACE,
    Flaw,
    at_quote,
    complete_before,
    early_end,
    in_string,
    line_and_column,
    quotes,
    unclosed_string,
)
from shared.jobspec.text.brackets import CLOSING, OPENING, still_open
from shared.jobspec.text.lookalikes import INVISIBLE, MARKS, SPACES, WIDE, character_name

_NAME = re.compile(r"[A-Za-z_$][\w$]{0,40}", re.ASCII)
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
#: Characters that are special in a shell, unless a backslash precedes them.
_OF_SHELL = tuple("()&|;*?<>#~[]{}=")
_TEXT_AFTER = "text after the end of the document"
_NO_SEPARATOR = "a comma or a closing bracket is missing"
#: The characters with which a document may start, if only by mistake.
_STARTS = "{[\"'/#}],:=\\\u2018\u2019\u201c\u201d\u201e\uff02"
_NUMBER = re.compile(r"[+.\d-][\w.+-]{0,80}", re.ASCII)
_IN_NUMBERS = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.+-")
_BEFORE_VALUES = (":", "[", ",")
#: A complete comment; an unclosed block does not match.
_COMMENT = re.compile(r"(?://|#)[^\r\n]*|/\*(?:[^*]|\*(?!/)){0,10000}\*/")
_MEMBER = re.compile(r'[ \t\r\n]*"[^"\\\r\n]{1,64}"[ \t]*:')


def syntax_problem(text: str, position: int, *, wants_colon: bool = False) -> Problem:
    """The problem of a text whose parsing stopped at `position`: the mistake, its place, what to type."""
    flaw = _diagnosis(text, position)
    if wants_colon and flaw.message in (NO_COMMA, _NO_SEPARATOR):
        sure = flaw.message == NO_COMMA or text[flaw.at] in "{["
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


def _diagnosis(text: str, offset: int) -> Flaw:
    if not text.strip(SPACE):
        return Flaw(0, "the document is empty", 'write at least {"properties": {…}}')
    rest = text[offset : offset + 2]
    before = text[:offset].rstrip(SPACE)
    strange = any(rest[:1] in named for named in (SPACES, INVISIBLE, MARKS, WIDE)) if rest else False
    if not before and not strange and rest[0] not in _STARTS and rest[0] >= " ":
        return Flaw(offset, "this is not JSON, which starts with a bracket", 'write {"properties": {…}}')
    flaw = _at_character(text, offset, rest, before)
    if flaw:
        return flaw
    if offset >= len(text.rstrip(SPACE)):
        return early_end(text)
    opened = still_open(text[:offset])
    if rest[0] in "}]" and opened and text[opened[-1]] != OPENING[rest[0]]:
        line, column = line_and_column(text, opened[-1])
        message = f'"{rest[0]}" cannot close the "{text[opened[-1]]}" of line {line}, column {column}'
        return Flaw(offset, message, f'write "{CLOSING[text[opened[-1]]]}", or delete it')
    if complete_before(before):
        if opened:
            return _unseparated(text, offset)
        return Flaw(offset, _TEXT_AFTER, "delete it")
    if before.endswith(("{", ",")) and opened and text[opened[-1]] == "{":
        return Flaw(offset, "a name has to stand here", "write a name in double quotes, or a closing bracket")
    return Flaw(offset, "this is not JSON", "write a value, a quoted name, a comma or a closing bracket here")


def _unseparated(text: str, offset: int) -> Flaw:
    """Something other than a comma or a bracket after a whole value."""
    if text[offset] == ";":
        edits = (Edit(offset, offset + 1, ","),) if _MEMBER.match(text, offset + 1) else ()
        return Flaw(offset, "a semicolon", 'write a comma: ","', 1, edits)
    if text[offset - 1] == '"' and text[offset] not in "{}[]:,":
        return Flaw(offset, "the text ended at the quote before this", 'write \\" for a quote inside a text')
    return Flaw(offset, _NO_SEPARATOR, 'write "," or a closing bracket')


def _number(text: str, offset: int) -> Flaw | None:
    """A number in another language's form, of which JSON reads at most the start: 0x10, 01, +1, .5, 1_000."""
    start = offset
    while start > 0 and offset - start < 40 and text[start - 1] in _IN_NUMBERS:
        start -= 1
    match = _NUMBER.match(text, start)
    if match is None or match.end() <= offset or text[:start].rstrip(SPACE)[-1:] not in _BEFORE_VALUES:
        return None
    return Flaw(start, "a number that JSON does not have", "write a plain number, such as 10", len(match[0]))


def _at_character(text: str, offset: int, rest: str, preceding: str) -> Flaw | None:
    first = rest[:1]
    if strange := _strange(offset, first):
        return strange
    if first == "," and preceding.endswith(","):
        # In a list a value may be missing; between two members nothing can be.
        edits = (Edit(offset, offset + 1, ""),) if _MEMBER.match(text, offset + 1) else ()
        return Flaw(offset, "a second comma", "delete one of them", 1, edits)
    if first == "," and _next_visible(text, offset + 1) in ("}", "]"):
        return _comma(offset)
    if first and first in "}]" and preceding.endswith(","):
        return _comma(len(preceding) - 1)
    if rest in ("//", "/*") or first == "#":
        match = _COMMENT.match(text, offset)
        edits = (Edit(offset, match.end(), ""),) if match else ()
        return Flaw(offset, "JSON takes no comments", "delete the comment", 2 if first == "/" else 1, edits)
    if first == "'":
        return quotes(text, offset, "single quotes", 'write double quotes: "')
    if first and first in "\u2018\u2019\u201c\u201d\u201e\uff02":
        return quotes(text, offset, "typographic quotes", 'write plain double quotes: "')
    if first == "=":
        edits = (
            (Edit(offset, offset + 1, ":"),) if preceding.endswith('"') and rest not in ("==", "=>") else ()
        )
        return Flaw(offset, "an equals sign", 'write a colon: ":"', edits=edits)
    if first == "\\":
        return _backslash(offset, rest[1:])
    if first and (first < " " or unclosed_string(text, offset)):
        return in_string(text, offset)
    if first == '"':
        return at_quote(text, offset, preceding)
    return _at_word(text, offset, preceding) or _number(text, offset)


def _strange(offset: int, first: str) -> Flaw | None:
    """A character that only looks like a blank or a mark, or is invisible."""
    if first in SPACES or first in INVISIBLE:
        right, remedy = (" ", "write an ordinary space") if first in SPACES else ("", "delete it")
    elif first != "\uff02" and (right := MARKS.get(first) or WIDE.get(first) or ""):
        remedy = f"write {right}"
    else:
        return None
    return Flaw(
        offset, f"the character {character_name(first)}", remedy, 1, (Edit(offset, offset + 1, right),)
    )


def _backslash(offset: int, rest: str) -> Flaw:
    if rest in ("$", "'", "`", "!"):
        # A second backslash would reach the shell, which then takes the $ for a letter.
        return Flaw(offset, f"a backslash before {rest}", "delete it", 1, (Edit(offset, offset + 1, ""),))
    if rest in _OF_SHELL:
        # The text does not show which of the two was meant.
        remedy = f"write \\\\{rest} if the shell is to take {rest} as it is, or {rest} alone"
        return Flaw(offset, f"a backslash before {rest}", remedy)
    remedy = "write two backslashes, or a forward slash in paths"
    return Flaw(offset, "a backslash that starts no escape", remedy)


def _at_word(text: str, offset: int, preceding: str) -> Flaw | None:
    word = _NAME.match(text, offset)
    if word is None:
        return None
    length, ends = len(word[0]), bool(FOLLOWING.match(text, word.end()))
    if word[0] in _PYTHON_WORDS:
        right = _PYTHON_WORDS[word[0]]
        corrections = (Edit(offset, word.end(), right),) if ends else ()
        return Flaw(offset, "a word that JSON does not have", f"write {right}", length, corrections)
    if preceding.endswith(("{", ",")):
        named = re.match(r"[ \t]*[:=]", text[word.end() : word.end() + 9]) is not None
        edits = (Edit(offset, offset, '"'), Edit(word.end(), word.end(), '"')) if named else ()
        return Flaw(offset, "a name without quotes", "put the name into double quotes", length, edits)
    if preceding.endswith(":"):
        remedy = "put text into double quotes; of a variable in Python write the value, as json.dumps does"
        return Flaw(offset, "a value without quotes", remedy, length)
    return None


def _comma(offset: int) -> Flaw:
    return Flaw(
        offset, "a comma before a closing bracket", "delete the comma", 1, (Edit(offset, offset + 1, ""),)
    )


def _next_visible(text: str, offset: int) -> str:
    return text[offset:].lstrip(SPACE)[:1]
