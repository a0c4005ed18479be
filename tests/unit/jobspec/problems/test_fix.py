"""A certain fix always takes its problem away, in the text and as a patch, and touches nothing else."""

from __future__ import annotations

import base64
import json
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.jobspec import Problem, Source, applied, lint, mended, read, read_envelope, validate
from tests.breadth import examples, one_each
from tests.diagnosis import problems_of
from tests.unit.jobspec.bad_jobs import BAD_JOBS
from tests.unit.jobspec.bad_texts import TEXTS, Text
from tests.unit.jobspec.checks.lint_jobs import LINTED, Linted
from tests.unit.jobspec.jobs import everything, job, share
from tests.unit.jobspec.patching import patched
from tests.unit.jobspec.problems.test_places import DUMPS
from tests.unit.jobspec.test_envelope import BAD_ENVELOPES

FILE = Path("job.json")


def diagnosed(source: Source) -> tuple[Problem, ...]:
    return problems_of(source.data, FILE)


def same(one: Problem, other: Problem) -> bool:
    return (one.code, one.pointer, one.message) == (other.code, other.pointer, other.message)


@pytest.mark.parametrize("bad", one_each(BAD_JOBS, attrgetter("code")), ids=lambda bad: bad.name)
def test_a_certain_fix_of_a_job_takes_its_problem_away(bad: Any) -> None:
    for dump in DUMPS.values():
        text = dump(bad.document)
        source = Source(text.encode())
        for one in source.locate(validate(bad.document)[1]):
            if one.fix is None:
                assert not (one.place and one.place.edits)
                continue
            after = json.loads(applied(text, [source.edits(one)]))
            assert not any(same(one, other) for other in validate(after)[1])
            if one.fix.patch():
                assert patched(bad.document, one.fix.patch()) == after


@pytest.mark.parametrize("bad", BAD_ENVELOPES, ids=[bad[0] for bad in BAD_ENVELOPES])
def test_a_certain_fix_of_an_envelope_takes_its_problem_away(bad: tuple[str, Any, str, str, str]) -> None:
    text = json.dumps(bad[1], indent=1)
    source = Source(text.encode())
    for one in source.locate(read_envelope(bad[1])[1]):
        if one.fix is not None:
            after = json.loads(applied(text, [source.edits(one)]))
            assert not any(same(one, other) for other in read_envelope(after)[1])
            assert patched(bad[1], one.fix.patch()) == after


@pytest.mark.parametrize("linted", one_each(LINTED, attrgetter("code")), ids=lambda linted: linted.name)
def test_a_certain_fix_of_an_oddity_takes_it_away(linted: Linted) -> None:
    text = json.dumps(linted.document, indent=1)
    source = Source(text.encode())
    for one in source.locate(lint(linted.document, linted.facts)):
        if one.fix is not None:
            after = json.loads(applied(text, [source.edits(one)]))
            assert not any(same(one, other) for other in lint(after, linted.facts))


@pytest.mark.parametrize(
    "bad",
    one_each((bad for bad in TEXTS if bad.mended), attrgetter("code")),
    ids=lambda bad: repr(bad.text[-50:]),
)
def test_a_certain_fix_of_a_text_takes_its_problem_away_and_its_edits_say_the_same(bad: Text) -> None:
    source = Source(bad.text.encode())
    for one in diagnosed(source):
        if one.fix is None or one.place is None:
            continue
        after = _edited(bad.text, one)
        if one.code == "SW003":
            # Places move when text goes; what is left of this kind stands elsewhere and is less.
            remaining = [other for other in diagnosed(source.with_text(after)) if other.code == "SW003"]
            assert len(remaining) < sum(other.code == "SW003" for other in diagnosed(source))
        elif source.readable_part(tuple(x for x in read(source.data)[1])) is None:
            assert not any(same(one, other) for other in diagnosed(source.with_text(after)))


@pytest.mark.parametrize(
    "bad", one_each(TEXTS, attrgetter("code", "mended")), ids=lambda bad: repr(bad.text[-50:])
)
def test_fixing_ends_and_leaves_nothing_certain(bad: Text) -> None:
    after = mended(Source(bad.text.encode()), diagnosed)

    assert all(one.fix is None for one in diagnosed(after))
    assert mended(after, diagnosed).data == after.data


def test_fixing_keeps_what_it_need_not_touch() -> None:
    text = (
        "\ufeff{ // a job\r\n"
        "  'properties' : {\r\n"
        '     "nodeCuont" :"2" ,\r\n\r\n'
        '\t"executionState": "queued",\r\n'
        '    "customToolkitSettings": { "commandLine"  : "true", "processCount": 1 },\r\n'
        '    "inputDirectories": {"id": "A",   "path": "/x"},\r\n'
        '    "environmentVariables": { "A" : "b" , "C":"d" },\r\n'
        '    "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",\r\n'
        "  }\r\n}\r\n"
    )

    after = mended(Source(text.encode()), diagnosed).data.decode()

    assert after == (
        "\ufeff{ \r\n"
        '  "properties" : {\r\n'
        '     "nodeCount" :2 ,\r\n\r\n'
        '\t"customToolkitSettings": { "commandLine"  : "true" },\r\n'
        '    "inputDirectories": [{"id": "A",   "path": "/x"}],\r\n'
        '    "environmentVariables": [ {"name": "A", "value": "b"} , {"name": "C", "value": "d"} ],\r\n'
        '    "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"\r\n'
        "  }\r\n}\r\n"
    )


def test_a_text_in_utf_16_becomes_utf_8() -> None:
    text = json.dumps(job(), indent=2)

    after = mended(Source(text.encode("utf-16")), diagnosed)

    assert after.data == text.encode()


def test_two_names_that_mean_the_same_become_one_and_no_duplicate() -> None:
    text = json.dumps(job(processCount=1, mount_volumes={}, MountVolumes={}))

    after = mended(Source(text.encode()), diagnosed)

    assert read(after.data)[0] is not None


def test_a_name_that_is_there_already_is_not_written_again() -> None:
    document = job(node_count=3)

    (one,) = Source(json.dumps(document).encode()).locate(validate(document)[1])

    assert one.code == "SW012"
    assert one.fix is None
    assert "patch" not in one.as_dict()


def test_patches_repeat_no_value_that_a_person_wrote() -> None:
    document = job(secrets={"TOKEN": "canary-1", "B": "canary-2"})
    document["properties"]["mountVolumes"]["azureFileShares"] = {
        **share()["properties"]["mountVolumes"]["azureFileShares"][0],
        "credentials": {"accountKey": "canary-3"},
    }

    problems = Source(json.dumps(document).encode()).locate(validate(document)[1])

    assert sum(bool(one.as_dict().get("patch")) for one in problems) == 2
    assert "canary" not in str([one.as_dict() for one in problems])
    for one in problems:
        if one.fix is not None:
            assert not any(same(one, other) for other in validate(patched(document, one.fix.patch()))[1])


@pytest.mark.parametrize(
    "text",
    [
        '{"properties": {' + ", ".join('"a": 1' for _ in range(5000)) + "}}",
        '{"properties": {"environmentVariables": {' + ", ".join(f'"A{n}": ""' for n in range(5000)) + "}}}",
        '{"properties": {' + ", ".join(f'"k{n}": [1,]' for n in range(5000)) + "}}",
        json.dumps(job(nodeCuont=1, **{f"{'k' * 90}{n}": "\u202e" * 99 for n in range(500)})),
    ],
    ids=["one name many times", "many variables", "many commas", "much that does not print"],
)
def test_what_is_kept_of_a_document_full_of_mistakes_is_small(text: str) -> None:
    shown_text = json.dumps([one.as_dict() for one in problems_of(text.encode(), FILE)])

    assert len(shown_text) < 300_000


@pytest.mark.parametrize(
    "text",
    [
        "# a\n# b\n",
        "# a canary\nfoo bar\n",
        "'abc'",
        "[1,] // a canary",
        "{'properties': {'nodeCount': 1,}",
        '{"a": 1,} {"b": 2}',
        "[{'a': 1}, {'b': 2},]",
        "#SBATCH --nodes=2\nsrun a\n",
        base64.b64encode(json.dumps(everything()).encode("utf-16")).decode(),
    ],
)
def test_nothing_is_called_mendable_of_a_text_that_fixes_make_no_document(text: str) -> None:
    problems = problems_of(text.encode(), FILE)

    assert problems
    assert all(one.fix is None and one.place and not one.place.edits for one in problems)
    assert "canary" not in json.dumps([one.as_dict() for one in problems])


_SLIPS = st.sampled_from(["lower", "snake", "swap", "drop", "double", "quote", "wrap", "float"])


@given(st.data())
@settings(max_examples=examples(150), deadline=None)
def test_a_fix_that_is_called_certain_takes_the_problem_of_any_slip_away(data: st.DataObject) -> None:
    document = everything()
    for _ in range(data.draw(st.integers(1, 3))):
        holders = [node for node in _objects(document) if node]
        holder = data.draw(st.sampled_from(holders))
        key = data.draw(st.sampled_from(sorted(holder)))
        _slip(holder, key, data.draw(_SLIPS), data.draw(st.integers(0, 60)))
    text = json.dumps(document, indent=data.draw(st.sampled_from([None, 1])))
    source = Source(text.encode())
    problems = source.locate(validate(document)[1])
    for one in problems:
        if one.fix is not None:
            after = json.loads(applied(text, [source.edits(one)]))
            assert not any(same(one, other) for other in validate(after)[1]), one


def _edited(text: str, one: Problem) -> str:
    """What an editor makes of a place's edits."""
    assert one.place is not None
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for place in reversed(one.place.edits):
        first, last = starts[place[0] - 1] + place[1] - 1, starts[place[2] - 1] + place[3] - 1
        text = text[:first] + place[4] + text[last:]
    return text


def _objects(document: Any) -> list[dict[str, Any]]:
    results, stack = [], [document]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            results.append(node)
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return results


def _slip(holder: dict[str, Any], key: str, slip: str, at: int) -> None:
    value = holder.pop(key)
    place = at % max(1, len(key) - 1)
    names = {
        "lower": key.lower(),
        "snake": "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key),
        "swap": key[:place] + key[place : place + 2][::-1] + key[place + 2 :],
        "drop": key[:place] + key[place + 1 :],
        "double": key[: place + 1] + key[place:],
    }
    if slip == "quote" and isinstance(value, int):
        value = str(value)
    elif slip == "float" and isinstance(value, int):
        value = float(value)
    elif slip == "wrap" and isinstance(value, list) and len(value) == 1:
        value = value[0]
    holder[names.get(slip, key)] = value
