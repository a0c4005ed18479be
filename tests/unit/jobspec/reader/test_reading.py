"""Bytes that are not a job.json: what is wrong, where, and what to type."""

from __future__ import annotations

import codecs
import json

import pytest

from shared.jobspec import Limits, read

# bytes, code, pointer, a piece of message and remedy
BAD_TEXTS: tuple[tuple[bytes, str, str, str], ...] = (
    (b"[" * 50_000 + b"]" * 50_000, "SW004", "", "column 65"),
    (b" " * (1024 * 1024 + 1), "SW001", "", "1048577 bytes"),
    ('{"a": 1}'.encode("utf-16"), "SW002", "", "UTF-16"),
    (codecs.BOM_UTF16_BE + '{"a": 1}'.encode("utf-16-be"), "SW002", "", "UTF-16"),
    ('{"a": 1}'.encode("utf-16-le"), "SW002", "", "looks like UTF-16"),
    ('{"a": 1}'.encode("utf-32"), "SW002", "", "UTF-32"),
    (b'{\n"a": "caf\xe9"}', "SW002", "", "line 2"),
    (b"", "SW003", "", "empty"),
    (b" \n ", "SW003", "", "empty"),
    (b"{", "SW003", "", 'line 1, column 2: the document ends early: "{" of line 1, column 1'),
    (b'{"a": [1, 2', "SW003", "", 'write "]"'),
    (b'{"a":\n  {"b": 1}', "SW003", "", "line 2, column 11"),
    (b'{"a"', "SW003", "", "ends early"),
    (b'{"a": "b"} ]', "SW003", "", "line 1, column 12"),
    (b'{"a": 1} {"b": 2}', "SW003", "", "after the end"),
    (b'{\n  "a": 1,\n}', "SW003", "", "line 2, column 9: a comma before a closing bracket"),
    (b"[1, ]", "SW003", "", "delete the comma"),
    (b'{"a": 1 "b": 2}', "SW003", "", "a comma is missing"),
    (b'{"a": 1, // why\n"b": 2}', "SW003", "", "takes no comments"),
    (b"/* why */ {}", "SW003", "", "takes no comments"),
    (b'{"a": 1} # why', "SW003", "", "takes no comments"),
    (b"{'a': 1}", "SW003", "", "single quotes"),
    ("{“a”: 1}".encode(), "SW003", "", "typographic quotes"),
    (b"{a: 1}", "SW003", "", "a name without quotes"),
    (b'{"a": b}', "SW003", "", "a value without quotes"),
    (b'{"a": True}', "SW003", "", "write true"),
    (b'{"a": None}', "SW003", "", "write null"),
    (b'{"a"="b"}', "SW003", "", "equals sign"),
    (b'{"a": "C:\\Users"}', "SW003", "", "backslash"),
    (b'{"a": "b\nc"}', "SW003", "", "line break"),
    (b'{"a": "b\tc"}', "SW003", "", "tab"),
    (b'{"a": "b\x01c"}', "SW003", "", "control character"),
    (b'{"a": "b', "SW003", "", "a text is not closed"),
    (b'{"a": }', "SW003", "", "line 1, column 7"),
    (b'{"a": +1}', "SW003", "", "a plain number"),
    (b'{"a": 1,, "b": 2}', "SW003", "", "column 9"),
    (b'{"a": {"b" "c"}}', "SW003", "", "a colon is missing"),
    (b'{"a" 1}', "SW003", "", "a colon is missing"),
    (b'{"a":' * 50_000, "SW004", "", "more than 64 levels"),
    (b'{"a": {"b": 1, "b": 500}}', "SW005", "/a/b", '"b" is given twice'),
    (b'{"a": 1, "a": 2, "a": 3}', "SW005", "/a", "keep one"),
    (b'[{"x": [NaN]}]', "SW006", "/0/x/0", "NaN"),
    (b'{"a": -Infinity}', "SW006", "/a", "infinite"),
    (b'{"a": 1e999999}', "SW006", "/a", "infinite"),
    (b'{"a": ' + b"9" * 100_000 + b"}", "SW006", "/a", "too many digits"),
    (b'{"a": 0.' + b"1" * 100_000 + b"}", "SW006", "/a", "too many digits"),
    (b'{"a": "\\u0000"}', "SW007", "/a", "NUL"),
    (b'{"a": ["\\ud800"]}', "SW007", "/a/0", "surrogate"),
    (b'{"\\udfff": 1}', "SW007", "/\\udfff", "name of this property"),
    (b"7", "SW008", "", "not a JSON object"),
    (b'"{}"', "SW008", "", "not a JSON object"),
    (b'{"a": [' + b"1," * 20_000 + b"1]}", "SW009", "", "20000 are allowed"),
)


@pytest.mark.parametrize(("data", "code", "pointer", "says"), BAD_TEXTS, ids=lambda value: repr(value)[:40])
def test_text_that_cannot_be_taken_is_diagnosed(data: bytes, code: str, pointer: str, says: str) -> None:
    document, problems = read(data)

    assert document is None
    one = next(one for one in problems if (one.code, one.pointer) == (code, pointer))
    assert says in f"{one.message}. {one.remedy}"


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        codecs.BOM_UTF8 + b'{"a": 1}',
        b'\r\n\t {"a": [1.5, -0, 1e3, true, null]} \r\n',
        '{"ä": "日本語 😀"}'.encode(),
        b'{"a": "\\ud83d\\ude00 [[[[ {{{{ \\" \\\\"}',
        b'{"a": ' + b"9" * 32 + b"}",
        b'{"a":' * 63 + b"1" + b"}" * 63,
    ],
)
def test_json_is_read_as_it_is(data: bytes) -> None:
    document, problems = read(data)

    assert problems == ()
    assert document == json.loads(data.decode("utf-8-sig"))


def test_all_flaws_of_a_readable_text_come_at_once_in_order() -> None:
    _, problems = read(b'{"a": NaN, "b": {"c": 1, "c": "\\u0000"}, "d": 1e999}')

    assert [(one.code, one.pointer) for one in problems] == [
        ("SW006", "/a"),
        ("SW005", "/b/c"),
        ("SW007", "/b/c"),
        ("SW006", "/d"),
    ]


def test_limits_are_the_callers() -> None:
    limits = Limits(max_bytes=20, max_depth=2, max_values=5)

    assert read(b'{"a": [1, 2, 3]}', limits)[1] == ()
    assert read(b'{"a": [1, 2, 3, 4]}', limits)[1][0].code == "SW009"
    assert read(b'{"a": [[1]]}', limits)[1][0].code == "SW004"
    assert read(b'{"a": "0123456789ab"}', limits)[1][0].code == "SW001"


def test_no_value_is_quoted() -> None:
    canary = "cAnArY9081"
    texts = (
        f'{{"accountKey": "{canary}" "b": 1}}',
        f'{{"accountKey": {canary}}}',
        f"{{'accountKey': '{canary}'}}",
        f'{{"accountKey": "{canary}',
        f'{{"accountKey": "{canary}\\u0000"}}',
        f'{{"a": 1, "a": "{canary}"}}',
        f'{{"a": "b"}} {canary}',
    )
    for text in texts:
        _, problems = read(text.encode())
        assert problems
        assert canary not in str(problems)
