"""Valid documents that something happened to: never accepted with another meaning, and always a place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.jobspec import Source, has_errors, lint, read, validate
from shared.jobspec.text.tree import copied
from tests.breadth import examples
from tests.diagnosis import problems_of
from tests.unit.jobspec.checks.lint_jobs import dropped
from tests.unit.jobspec.jobs import everything, job, script_toolkit, toolkit
from tests.unit.jobspec.problems.test_places import DUMPS, assert_points_at, place_by_json

VALID: tuple[dict[str, Any], ...] = (
    everything(),
    job(),
    dropped(),
    script_toolkit("tensorFlowSettings", workerCount=2, parameterServerCount=1),
    script_toolkit("pyTorchSettings", processCount=8, communicationBackend="gloo"),
    toolkit("cntkSettings", languageType="BrainScript", configFilePath="a.cntk"),
    toolkit("customMpiSettings", commandLine="hostname", processCount=2),
)
_JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just([]), st.just({})
)
_NAMES = st.text(st.characters(categories=("L", "Nd", "P", "S")), min_size=1, max_size=6)
_LETTERS = st.sampled_from([*'{}[]",:\\/\n\t 0123456789-+.eE', "a", "Z", "_", "\u00e4", "\u202e", "'", "#"])


def _places(document: Any) -> list[tuple[Any, Any]]:
    results, stack = [], [document]
    while stack:
        node = stack.pop()
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            results.append((node, key))
            if isinstance(node[key], dict | list):
                stack.append(node[key])
    return results


def _mutated(data: st.DataObject) -> dict[str, Any]:
    document: dict[str, Any] = copied(data.draw(st.sampled_from(VALID)))
    for _ in range(data.draw(st.integers(1, 3))):
        places = _places(document)
        if not places:
            break
        holder, key = data.draw(st.sampled_from(places))
        how = data.draw(st.sampled_from(["junk", "remove", "rename", "double", "copy"]))
        if how == "junk" or (isinstance(holder, list) and how in ("rename", "copy")):
            holder[key] = data.draw(_JUNK)
        elif how == "remove":
            del holder[key]
        elif how == "rename":
            holder[data.draw(_NAMES)] = holder.pop(key)
        elif how == "double" and isinstance(holder, list):
            holder.append(copied(holder[key]))
        else:
            holder[f"{key}2"] = copied(holder[key])
    return document


@given(st.data())
@settings(max_examples=examples(250), deadline=None)
def test_every_problem_of_a_mutated_document_points_at_its_token(data: st.DataObject) -> None:
    document = _mutated(data)
    dump = data.draw(st.sampled_from(list(DUMPS.values())))
    text = dump(document)
    if read(text.encode("utf-8", "surrogatepass"))[0] is None:
        return
    assert_points_at(document, (*validate(document)[1], *lint(document)), dump)


@given(st.data())
@settings(max_examples=examples(250), deadline=None)
def test_what_is_accepted_means_what_was_written(data: st.DataObject) -> None:
    document = _mutated(data)

    spec, problems = validate(document)

    assert (spec is None) is has_errors(problems)
    if spec is not None:
        assert spec.document() == _without_nulls({"properties": document["properties"]})


@given(st.data())
@settings(max_examples=examples(400), deadline=None)
def test_a_letter_more_or_less_is_seen_or_means_nothing_else(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(VALID))
    text = json.dumps(document, indent=data.draw(st.sampled_from([None, 2])))
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.integers(0, len(text)))
        text = (
            text[:at]
            + data.draw(st.one_of(st.just(""), _LETTERS))
            + text[at + data.draw(st.integers(0, 1)) :]
        )

    problems = problems_of(text.encode(), Path("job.json"))

    for one in problems:
        assert one.place is not None
        assert 1 <= one.place.line <= text.count("\n") + 1
        assert 1 <= one.place.column <= len(text.split("\n")[one.place.line - 1]) + 1
    result, _ = read(text.encode())
    if not has_errors(problems):
        # Accepted: then strict JSON without duplicates, and what the reader gave is what any parser gives.
        assert result == json.loads(text, object_pairs_hook=_strict)


@pytest.mark.parametrize("document", VALID, ids=range(len(VALID)))
def test_the_oracle_of_places_is_right(document: dict[str, Any]) -> None:
    for dump in DUMPS.values():
        text = dump(document)
        assert text[place_by_json(document, "/properties/nodeCount", dump, of_name=False) :].startswith("2")
        assert text[place_by_json(document, "/properties/nodeCount", dump, of_name=True) :].startswith(
            '"nodeC'
        )


def test_a_clean_document_costs_no_search_for_places() -> None:
    source = Source(json.dumps(job()).encode())

    assert source.locate(validate(job())[1]) == ()
    assert "text" not in vars(source)


def _strict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value
