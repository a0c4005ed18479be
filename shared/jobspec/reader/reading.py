"""From bytes to a JSON object, refusing what parsers silently accept."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from shared.jobspec.format.limits import Limits
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Fix
from shared.jobspec.problems.problem import Problem, in_document_order
from shared.jobspec.reader.foreign import foreign_bytes, foreign_document, foreign_text
from shared.jobspec.reader.mistakes import mending
from shared.jobspec.reader.quotes import line_and_column
from shared.jobspec.reader.source import Source
from shared.jobspec.text.brackets import CLOSING, brackets
from shared.jobspec.text.tree import JsonObject, Node, count_values, exact, printable, quote, step, walk

_BOMS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_LONGEST_INTEGER = 32
_LONGEST_FLOAT = 64
_NEVER = re.compile("[\x00\ud800-\udfff]")
#: The escape of such a character: the only way to write half of a pair, and one way to write a pair.
_ESCAPED = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class ReadDocument(NamedTuple):
    """The usable part of a document, or None; and the problems of its text."""

    document: JsonObject | None
    problems: tuple[Problem, ...]


def read(data: bytes, limits: Limits | None = None) -> ReadDocument:
    """The document, or None and the problems of the text. Never raises, and quotes no value."""
    document, problems = _read(data, limits or Limits())
    return ReadDocument(None, problems) if problems else ReadDocument(document, ())


def read_through(source: Source, limits: Limits | None = None) -> ReadDocument:
    """What can be read of the document despite mistakes in its text, and all these mistakes.

    With problems, it only serves to find further ones: the unreadable parts are guesses.
    """
    limits = limits or Limits()
    document, problems = _read(source.data, limits)
    if document is None and (rest := source.readable_part(problems)) is not None:
        document, more = _read(rest, limits)
        problems = (*problems, *more)
    return ReadDocument(document, problems)


def _read(data: bytes, limits: Limits) -> ReadDocument:
    """The readable part of the text, and its problems."""
    if len(data) > limits.max_bytes:
        message = f"the document has {len(data)} bytes; {limits.max_bytes} are allowed"
        return ReadDocument(None, (problem("SW001", "", message),))
    if packed := foreign_bytes(data):
        return ReadDocument(None, (packed.text(""),))
    try:
        text = _decoded(data)
    except _NotUtf8 as error:
        return ReadDocument(None, (error.problem,))
    too_deep = _too_deep(text, limits.max_depth)
    if too_deep:
        return ReadDocument(None, (too_deep,))
    return _parsed(text, limits)


class _NotUtf8(Exception):
    """The bytes are not UTF-8; `problem` shows where."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.problem = problem("SW002", "", message, span=(offset, offset + 1))


def _decoded(data: bytes) -> str:
    """The text of bytes in UTF-8, without a byte order mark. Raises _NotUtf8."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            raise _NotUtf8(f"the document is {name}")
    if data[:2].count(0) == 1 and data[2:4].count(0) == 1:
        raise _NotUtf8("the document looks like UTF-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        at = len(data[: error.start].decode("utf-8-sig"))
        raise _NotUtf8(f"line {line} has a byte that is not UTF-8 (byte {error.start + 1})", at) from error


def _too_deep(text: str, max_depth: int) -> Problem | None:
    """Count brackets outside of strings in one pass, before a recursive parser meets them."""
    if text.count("{") + text.count("[") <= max_depth:
        return None
    depth = 0
    for match in brackets(text):
        if match[0] in CLOSING:
            depth += 1
            if depth > max_depth:
                line, column = line_and_column(text, match.start())
                message = f"line {line}, column {column}: more than {max_depth} levels of objects and lists"
                return problem("SW004", "", message, span=match.span())
        else:
            depth -= 1
    return None


#: Stands in the tree for an unusable number until its place is known. No usable number is NaN.
_FLAW = math.nan


class _Object(dict[str, Any]):
    """An object with a duplicate property."""

    twice: tuple[str, ...] = ()


class _Hooks:
    """The parser's hooks; `strange` once they have met something unusable."""

    strange = False

    def object(self, pairs: list[tuple[str, Any]]) -> JsonObject:
        plain = dict(pairs)
        if len(plain) == len(pairs):
            return plain
        self.strange = True
        marked = _Object(plain)
        names: set[str] = set()
        marked.twice = tuple(dict.fromkeys(key for key, _ in pairs if key in names or names.add(key)))  # type: ignore[func-returns-value]
        return marked

    def integer(self, digits: str) -> float:
        """An int, as JSON has it; or the flaw."""
        return int(digits) if len(digits) <= _LONGEST_INTEGER else self.flaw(digits)

    def fraction(self, text: str) -> float:
        value = float(text) if len(text) <= _LONGEST_FLOAT else math.inf
        return value if math.isfinite(value) else self.flaw(text)

    def flaw(self, _: str) -> float:
        self.strange = True
        return _FLAW


def _is_flaw(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _parsed(text: str, limits: Limits) -> ReadDocument:
    hooks = _Hooks()
    try:
        document = json.loads(
            text,
            object_pairs_hook=hooks.object,
            parse_constant=hooks.flaw,
            parse_int=hooks.integer,
            parse_float=hooks.fraction,
        )
    except json.JSONDecodeError as error:
        if foreign := foreign_text(text):
            return ReadDocument(None, (foreign.text(text),))
        return ReadDocument(None, mending(text, error).problems)
    # A value takes at least two characters, with its separator.
    if len(text) >= 2 * limits.max_values and (count := count_values(document)) > limits.max_values:
        message = f"the document has {count} values; {limits.max_values} are allowed"
        return ReadDocument(None, (problem("SW009", "", message),))
    if isinstance(document, dict) and not hooks.strange and not _ESCAPED.search(text):
        return ReadDocument(document, ())
    return _with_flaws(document, limits)


def _with_flaws(document: Any, limits: Limits) -> ReadDocument:
    """The usable part of a document, and the flaws, place by place."""
    flaws = [flaw for node in walk(document) for flaw in _flaws(node)]
    if not isinstance(document, dict):
        flaws.append(_no_object(document))
    if not flaws:
        return ReadDocument(document, ())
    ordered = in_document_order(document, flaws)[: limits.max_problems]
    return ReadDocument(_cleaned(document) if isinstance(document, dict) else None, ordered)


def _no_object(document: Any) -> Problem:
    """The problem of a document that is not an object; that of a list depends on its items."""
    items = document if isinstance(document, list) else []
    first = items[0] if items and isinstance(items[0], dict) else None
    if first is None:
        return problem("SW008", "", "the document is not a JSON object")
    if foreign := foreign_document(first):
        flaw = foreign.document(first)
        return replace(flaw, unknown=frozenset(f"/{index}" for index in range(len(items))))
    if len(items) == 1:
        fix = Fix("lift", "", removed=("/0",))
        return problem("SW008", "", "the document is a list of one job", "write the job itself", fix=fix)
    remedy = "write each into a file of its own"
    flaw = problem("SW008", "", f"the document is a list of {len(items)} jobs", remedy)
    return replace(flaw, unknown=frozenset(f"/{index}" for index in range(len(items))))


def _cleaned(value: Any) -> Any:
    """The value with harmless replacements for unusable parts. Its depth was limited before."""
    if _is_flaw(value):
        return 1
    if isinstance(value, str):
        return "x" if _NEVER.search(value) else value
    if isinstance(value, dict):
        return {key: _cleaned(inner) for key, inner in value.items() if not _NEVER.search(key)}
    return [_cleaned(inner) for inner in value] if isinstance(value, list) else value


def _flaws(node: Node) -> Iterator[Problem]:
    value = node.value
    if _is_flaw(value):
        yield problem("SW006", node.pointer, "this number is NaN, infinite, or has too many digits")
    elif isinstance(value, str) and _NEVER.search(value):
        yield problem("SW007", node.pointer, "the text contains NUL or half of a surrogate pair")
    elif isinstance(value, dict):
        for key in value:
            if _NEVER.search(key):
                message = "the name of this property contains NUL or half of a surrogate pair"
                yield problem("SW007", step(node.pointer, key), message, of_name=True)
        if isinstance(value, _Object):
            for key in value.twice:
                message = f"{quote(printable(key))} is given twice"
                pointer = step(node.pointer, key)
                fix = Fix("repeat", pointer) if exact(key) else None
                yield problem("SW005", pointer, message, of_name=True, fix=fix)
