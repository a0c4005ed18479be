"""Every problem points at the token that is wrong, with any spacing, in over three hundred documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from shared.jobspec import Problem, Source, lint, read, read_envelope, validate
from shared.jobspec.text.tree import copied
from tests.breadth import one_each, pairs
from tests.diagnosis import problems_of
from tests.unit.jobspec.bad_jobs import BAD_JOBS
from tests.unit.jobspec.bad_texts import TEXTS, Text
from tests.unit.jobspec.checks.lint_jobs import LINTED
from tests.unit.jobspec.reader.test_reading import BAD_TEXTS
from tests.unit.jobspec.test_envelope import BAD_ENVELOPES

Dump = Callable[[Any], str]
DUMPS: dict[str, Dump] = {
    "indented": lambda document: json.dumps(document, indent=2, ensure_ascii=False),
    "in one line": lambda document: json.dumps(document, separators=(",", ":"), ensure_ascii=True),
    "Windows": lambda document: json.dumps(document, indent="\t", ensure_ascii=False).replace("\n", "\r\n"),
}
#: The name is wrong, not what stands under it.
_OF_NAMES = {"SW012", "SW021", "SW022"}
_SENTINEL = "sentinel-of-the-test"


def place_by_json(document: Any, pointer: str, dump: Dump, *, of_name: bool) -> int:
    """Where the standard library writes a value: what stands before it does not depend on it."""
    whole = [copied(document)]
    holder: Any = whole
    key: Any = 0
    for part in pointer.split("/")[1:]:
        value = holder[key]
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            holder, key = value, int(name)
        elif isinstance(value, dict) and name in value:
            holder, key = value, name
        else:
            break  # missing: its parent is meant
    if of_name and isinstance(holder, dict):
        members = {(_SENTINEL if name == key else name): value for name, value in holder.items()}
        holder.clear()
        holder.update(members)
    else:
        holder[key] = _SENTINEL
    return dump(whole[0]).index(f'"{_SENTINEL}"')


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset].split("\n")
    return len(before), len(before[-1]) + 1


def token_of(text: str, result: Problem) -> str:
    """The characters that a problem's place names."""
    place = result.place
    assert place is not None
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    first = starts[place.line - 1] + place.column - 1
    return text[first : starts[place.end_line - 1] + place.end_column - 1]


def _named(value: Any) -> str:
    return str(getattr(value, "name", value))


def assert_points_at(document: Any, result: Iterable[Problem], dump: Dump) -> None:
    text = dump(document)
    for one in Source(text.encode()).locate(result):
        assert one.place is not None
        if one.piece:
            assert json.loads(f'"{token_of(text, one)}"') == one.piece
            continue
        of_name = one.code in _OF_NAMES or one.of_name
        expected = line_and_column(text, place_by_json(document, one.pointer, dump, of_name=of_name))
        assert (one.place.line, one.place.column) == expected, one
        assert token_of(text, one)[0] == text.split("\n")[expected[0] - 1][expected[1] - 1]


@pytest.mark.parametrize(("bad", "dump"), pairs(one_each(BAD_JOBS, attrgetter("code")), DUMPS), ids=_named)
def test_each_mistake_of_a_job_points_at_its_token(bad: Any, dump: str) -> None:
    assert_points_at(bad.document, validate(bad.document)[1], DUMPS[dump])


@pytest.mark.parametrize(("linted", "dump"), pairs(one_each(LINTED, attrgetter("code")), DUMPS), ids=_named)
def test_each_oddity_points_at_its_token(linted: Any, dump: str) -> None:
    assert_points_at(linted.document, lint(linted.document, linted.facts), DUMPS[dump])


@pytest.mark.parametrize("bad", BAD_ENVELOPES, ids=[bad[0] for bad in BAD_ENVELOPES])
def test_each_mistake_of_an_envelope_points_at_its_token(bad: tuple[str, Any, str, str, str]) -> None:
    for dump in DUMPS.values():
        assert_points_at(bad[1], read_envelope(bad[1])[1], dump)


@pytest.mark.parametrize("data", [bad[0] for bad in BAD_TEXTS], ids=lambda value: repr(value)[:40])
def test_each_text_that_cannot_be_read_has_a_place(data: bytes) -> None:
    problems = Source(data).locate(read(data)[1])

    assert problems
    for one in problems:
        assert one.place is not None
        assert one.place.line >= 1
        assert one.place.column >= 1
        assert len(one.place.source) < 1000
        assert one.place.source.isprintable()
        if one.message.startswith("line "):
            assert one.message.startswith(f"line {one.place.line}")


@pytest.mark.parametrize("bad", TEXTS, ids=lambda bad: f"{bad.code} {bad.text[-50:]!r}"[:70])
def test_each_marked_token_is_found(bad: Text) -> None:
    problems = problems_of(bad.text.encode(), Path("job.json"))

    position = line_and_column(bad.text, bad.token[0])
    result = [one for one in problems if one.code == bad.code and one.place]
    places = [(one.place.line, one.place.column) for one in result if one.place]
    assert position in places, [(one.code, one.message, one.place) for one in problems]
    one = result[places.index(position)]
    assert token_of(bad.text, one) == bad.text[slice(*bad.token)]
    assert bool(one.fix) is bad.mended


def test_there_are_more_than_three_hundred_wrong_documents() -> None:
    documents = {json.dumps(bad.document) for bad in BAD_JOBS}
    documents |= {json.dumps(bad[1]) for bad in BAD_ENVELOPES}
    documents |= {json.dumps(linted.document) for linted in LINTED}
    texts = {bad.text for bad in TEXTS} | {str(bad[0]) for bad in BAD_TEXTS}

    assert len(documents) + len(texts) >= 300


def test_problems_come_in_the_order_of_the_text_and_the_rest_is_counted_last() -> None:
    text = b'{"zzz": 1, "properties": {"b": 1, "nodeCount": "2", "a": 2}}'

    problems = Source(text).locate(validate(json.loads(text))[1])

    places = [(one.place.line, one.place.column) for one in problems if one.place]
    assert places == sorted(places)
    assert problems[0].pointer == "/zzz"


def test_a_problem_of_a_completed_document_points_at_what_the_person_wrote() -> None:
    text = '{"properties": {"cluster": "dev cluster", "customToolkitSettings": {"commandLine": "true"}}}'

    problems = problems_of(text.encode(), Path("job.json"))

    cluster = next(one for one in problems if one.code == "SW047")
    assert token_of(text, cluster) == '"dev cluster"'


def test_mistakes_of_syntax_do_not_hide_those_behind_them() -> None:
    text = "{\n  // job\n  'properties': {\n    nodeCuont: '2', # two\n    \"zzz\": True,\n  }\n}"

    problems = problems_of(text.encode(), Path("job.json"))

    result = [(one.code, token_of(text, one)) for one in problems]
    assert ("SW012", "nodeCuont") in result
    assert ("SW012", '"zzz"') in result
    assert [code for code, _ in result].count("SW003") == 7
