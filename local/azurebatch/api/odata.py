"""$filter, $select and paging of lists."""

import itertools
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

from aiohttp import web

from local.azurebatch.api.filters import filterable
from local.azurebatch.api.wire import Call, document
from local.azurebatch.service.check import names_in
from local.azurebatch.state.errors import query
from local.azurebatch.state.models import Record
from local.azurebatch.state.moment import read_stamp

View = Mapping[str, Any]
Test = Callable[[View], bool]
R = TypeVar("R", bound=Record)
T = TypeVar("T")
_TOKEN = re.compile(
    r"\s*(?:(?P<moment>DateTime'(?P<when>[^']*)')|(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+(?:\.\d+)?)"
    r"|(?P<word>[A-Za-z_][\w./]*)|(?P<mark>[(),]))",
    re.IGNORECASE,
)
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}
_WORDS = {"true": True, "false": False, "null": None}
#: The longest number, so that reading one is quick.
_NUMBER = re.compile(r"\d{1,18}", re.ASCII)


class _Wrong(Exception):
    """The filter does not parse."""


class _Token(NamedTuple):
    """A word, a value, a punctuation mark, or the end."""

    kind: str
    value: Any


class _Reader:
    """A recursive-descent parser of filters: or, and, not, parentheses, comparisons."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self._names = names
        self._tokens: list[_Token] = []
        text, position = text.rstrip(), 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise _Wrong(f"{text[position : position + 20]!r} cannot be read")
            position = match.end()
            self._tokens.append(_token(match))
        self._tokens.append(_Token("end", ""))
        self._at = 0

    def test(self) -> Test:
        """Parse the whole filter. Raises _Wrong."""
        test = self._any()
        self._expect("end", "")
        return test

    def _any(self) -> Test:
        tests = [self._all()]
        while self._take("word", "or"):
            tests.append(self._all())
        return tests[0] if len(tests) == 1 else lambda view: any(test(view) for test in tests)

    def _all(self) -> Test:
        tests = [self._one()]
        while self._take("word", "and"):
            tests.append(self._one())
        return tests[0] if len(tests) == 1 else lambda view: all(test(view) for test in tests)

    def _one(self) -> Test:
        if self._take("word", "not"):
            inner = self._one()
            return lambda view: not inner(view)
        if self._take("mark", "("):
            inner = self._any()
            self._expect("mark", ")")
            return inner
        kind, name = self._next()
        if kind != "word":
            raise _Wrong(f"a property is expected at {name!r}")
        return self._begins() if name.lower() == "startswith" else self._compares(self._path(name))

    def _begins(self) -> Test:
        self._expect("mark", "(")
        path = self._path(self._next()[1])
        self._expect("mark", ",")
        start = self._next()[1]
        self._expect("mark", ")")
        return lambda view: str(_value(view, path) or "").lower().startswith(str(start).lower())

    def _path(self, path: Any) -> str:
        """A path of properties. The list must be filterable by the first one."""
        if str(path).partition("/")[0] not in self._names:
            raise _Wrong(f"{path!r} is not a property by which this list can be filtered")
        return str(path)

    def _compares(self, path: str) -> Test:
        compare = _OPERATORS.get(str(self._next()[1]).lower())
        kind, literal = self._next()
        if compare is None or kind not in ("value", "word"):
            raise _Wrong(f"{path} is compared by eq, ne, gt, ge, lt or le with a literal")
        if kind == "word":
            if literal.lower() not in _WORDS:
                raise _Wrong(f"{literal!r} is not a literal")
            literal = _WORDS[literal.lower()]
        return lambda view: _holds(compare, _value(view, path), literal)

    def _next(self) -> _Token:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _take(self, kind: str, text: str) -> bool:
        items, value = self._tokens[self._at]
        if items == kind and str(value).lower() == text:
            self._at += 1
            return True
        return False

    def _expect(self, kind: str, text: str) -> None:
        if not self._take(kind, text):
            raise _Wrong(f"{text or 'the end'} is expected at {self._tokens[self._at][1]!r}")


def _token(match: re.Match[str]) -> _Token:
    if match["moment"]:
        try:
            return _Token("value", read_stamp(match["when"]))
        except ValueError:
            raise _Wrong(f"{match['when']!r} is not a time") from None
    if match["text"]:
        return _Token("value", match["text"][1:-1].replace("''", "'"))
    if match["number"]:
        return _Token("value", float(match["number"]))
    return _Token("word", match["word"]) if match["word"] else _Token("mark", match["mark"])


def _value(view: View, path: str) -> Any:
    value: Any = view
    for name in path.split("/"):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _holds(compare: Callable[[Any, Any], bool], value: Any, literal: Any) -> bool:
    if value is None or literal is None:
        return compare in (operator.eq, operator.ne) and compare(value, literal)
    if isinstance(literal, datetime):
        try:
            return compare(read_stamp(value), literal) if isinstance(value, str) else False
        except ValueError:
            return False  # a text that is not a time
    if isinstance(literal, str):
        return compare(str(value).lower(), literal.lower())
    return isinstance(value, (int, float)) and compare(value, literal)


def filter_of(call: Call, kind: str) -> Test:
    """The test of the request's filter. Raises BatchError."""
    text = call.request.query.get("$filter", "")
    if not text:
        return lambda _: True
    try:
        return _Reader(text, filterable(kind, call.version)).test()
    except _Wrong as wrong:
        raise query("$filter", text[:100], str(wrong)) from None
    except RecursionError:
        raise query("$filter", text[:100], "It is nested too deeply") from None


def selected(call: Call, view: View) -> View:
    """The properties that the request asks for."""
    chosen = names_in(call.request.query.get("$select", ""))
    return {name: value for name, value in view.items() if name in chosen} if chosen else view


def page(call: Call, kind: str, records: Iterable[R], view: Callable[[R], View]) -> web.Response:
    """A page of a list of records. Raises BatchError."""
    return page_of(call, kind, ((one.sequence, one) for one in records), view)


def page_of(call: Call, kind: str, items: Iterable[tuple[int, T]], view: Callable[[T], View]) -> web.Response:
    """A page of a list, whose items have rising numbers, and the link to the next one. Raises BatchError."""
    most = page_size(call)
    after = call.request.query.get("$skiptoken", "0")
    if not _NUMBER.fullmatch(after):
        raise query("$skiptoken", after, "It is not one that this service gave")
    test = filter_of(call, kind)
    rest = ((number, shown) for number, one in items if number > int(after) and test(shown := view(one)))
    entries = list(itertools.islice(rest, most + 1))
    body: dict[str, Any] = {"value": [selected(call, shown) for _, shown in entries[:most]]}
    if len(entries) > most:
        pairs = dict(call.request.query) | {"$skiptoken": str(entries[most - 1][0])}
        body["odata.nextLink"] = f"{call.base}{call.request.path}?{urlencode(pairs)}"
    return document(call, kind, body)


def page_size(call: Call) -> int:
    """The most items on a page: what the request asks for, else as many as the service allows."""
    asked_for = call.request.query.get("maxresults")
    return int(asked_for) if asked_for else call.most
