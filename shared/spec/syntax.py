"""What is wrong with text that is not JSON, told by what stands at the place where parsing stopped."""

from __future__ import annotations

import re

from shared.spec.codes import problem
from shared.spec.problem import Problem

_SPACE = " \t\r\n"
_NAME = re.compile(r"[A-Za-z_$][\w$]{0,40}", re.ASCII)
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
_NO_COMMA = "a comma is missing"
_TEXT_AFTER = "text after the end of the document, or a missing comma"
_MARK = re.compile(r'["{}\[\]]|\\.', re.DOTALL)


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Both counted from 1, as editors do; the column in characters."""
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def syntax_problem(text: str, position: int, *, wants_colon: bool = False) -> Problem:
    """The problem for a text whose parsing stopped at `position`: what is wrong, where, what to type."""
    place, message, remedy = _diagnosis(text, position)
    if wants_colon and message in (_NO_COMMA, _TEXT_AFTER):
        message, remedy = "a colon is missing after the name", 'write ":"'
    line, column = line_and_column(text, place)
    return problem("SW003", "", f"line {line}, column {column}: {message}", remedy)


def _diagnosis(text: str, at: int) -> tuple[int, str, str]:
    if not text.strip(_SPACE):
        return 0, "the document is empty", 'write at least {"properties": {…}}'
    rest = text[at : at + 2]
    before = text[:at].rstrip(_SPACE)
    here = _at_character(text, at, rest, before)
    if here:
        return here
    if at >= len(text.rstrip(_SPACE)):
        return _early_end(text)
    if _complete_before(before):
        return at, _TEXT_AFTER, 'write "," or delete the rest'
    return at, "this is not JSON", "write a value, a quoted name, a comma or a closing bracket here"


def _at_character(text: str, at: int, rest: str, before: str) -> tuple[int, str, str] | None:
    first = rest[:1]
    if first == "," and _next_visible(text, at + 1) in ("}", "]"):
        return at, "a comma before a closing bracket", "delete the comma"
    if first and first in "}]" and before.endswith(","):
        return len(before) - 1, "a comma before a closing bracket", "delete the comma"
    if rest in ("//", "/*") or first == "#":
        return at, "JSON has no comments", "delete the comment"
    if first == "'":
        return at, "single quotes", 'write double quotes: "'
    if first and first in "\u2018\u2019\u201c\u201d\u201e":
        return at, "typographic quotes", 'write plain double quotes: "'
    if first == "=":
        return at, "an equals sign", 'write a colon: ":"'
    if first == "\\":
        return at, "a backslash that starts no escape", "write two backslashes, or a forward slash in paths"
    if first and (first < " " or _unclosed_string(text, at)):
        return _in_string(text, at)
    if first == '"':
        return _at_quote(text, at, before)
    word = _NAME.match(text, at)
    if word and word[0] in _PYTHON_WORDS:
        return at, "a word that JSON does not have", f"write {_PYTHON_WORDS[word[0]]}"
    if word and before.endswith(("{", ",")):
        return at, "a name without quotes", "put the name into double quotes"
    if word and before.endswith(":"):
        return at, "a value without quotes", "put text into double quotes"
    return None


def _at_quote(text: str, at: int, before: str) -> tuple[int, str, str] | None:
    if _complete_before(before):
        return len(before), _NO_COMMA, 'write ","'
    return None if before.endswith(("{", ",", ":", "[")) else (at, "a misplaced quote", "delete the quote")


def _in_string(text: str, at: int) -> tuple[int, str, str]:
    if text[at] == "\n" or text[at] == "\r":
        return at, "a line break inside of a text, or an unclosed text", 'write "\\n", or close the text'
    if text[at] == "\t":
        return at, "a tab inside of a text", 'write "\\t" or a space'
    if text[at] < " ":
        return at, "a control character inside of a text", "delete the character"
    return at, "a text is not closed", "write the closing double quote"


def _early_end(text: str) -> tuple[int, str, str]:
    """The document stops inside of something: name the innermost bracket that was never closed."""
    opened: list[int] = []
    in_string = False
    for match in _MARK.finditer(text):
        mark = match[0]
        if mark == '"':
            in_string = not in_string
        elif in_string or mark[0] == "\\":
            continue
        elif mark in "{[":
            opened.append(match.start())
        elif opened:
            opened.pop()
    if not opened:
        return len(text), "the document ends early", "write the missing value"
    line, column = line_and_column(text, opened[-1])
    bracket = text[opened[-1]]
    closing = "}" if bracket == "{" else "]"
    message = f'the document ends early: "{bracket}" of line {line}, column {column} is not closed'
    return len(text), message, f'write "{closing}"'


def _unclosed_string(text: str, at: int) -> bool:
    """Parsers report an unclosed text at its opening quote."""
    if text[at] != '"':
        return False
    escaped = False
    for character in text[at + 1 :]:
        if character == '"' and not escaped:
            return False
        escaped = character == "\\" and not escaped
    return True


def _complete_before(before: str) -> bool:
    """Whether a value ended just before, so that only a comma or a closing bracket could follow."""
    return before.endswith(('"', "}", "]")) or before[-1:].isalnum()


def _next_visible(text: str, at: int) -> str:
    return text[at:].lstrip(_SPACE)[:1]
