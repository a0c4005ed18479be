"""One look at a whole document spares the search place by place, and never misses what that would find.

Each shortcut against the thorough way that it spares, over every wrong document of the tests, valid ones that
something happened to, and texts made of what the rules look for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.jobspec import Limits, complete, open_secrets, read, seal_secrets
from shared.jobspec.checks.rules import RULES, Context
from shared.jobspec.checks.rules.text import by_place, texts
from shared.jobspec.format.secrets import _leaves
from shared.jobspec.reader.mask import _hidden_parts, _vocabulary
from shared.jobspec.reader.reading import _with_flaws
from shared.jobspec.secrets.embedded import ranges_to_seal
from shared.jobspec.secrets.named_secrets import _search, named_ranges
from shared.jobspec.secrets.option_secrets import _of_commands, option_ranges
from shared.jobspec.text.tree import Node, copied, count_values, words
from tests.breadth import examples, size
from tests.fuzz.jobspec.test_any_document import _HOSTILE, DEFAULTS
from tests.fuzz.jobspec.test_mutations import VALID, _mutated, _places
from tests.unit.jobspec.bad_jobs import BAD_JOBS
from tests.unit.jobspec.bad_texts import TEXTS
from tests.unit.jobspec.checks.lint_jobs import LINTED
from tests.unit.jobspec.jobs import CLUSTER
from tests.unit.jobspec.reader.test_reading import BAD_TEXTS

_LIMITS = Limits(max_text=200)
_DOCUMENTS = [*VALID, *(bad.document for bad in BAD_JOBS), *(linted.document for linted in LINTED)]
#: What is known of the place: nothing, nothing is there, and all that the documents name is there.
_PLACES: tuple[dict[str, Any], ...] = (
    {},
    {"cluster_mounts": [], "clusters": [], "accounts": []},
    {"cluster_mounts": ["logs", "data/deep"], "clusters": [CLUSTER], "accounts": ["account"]},
)
_PIECES = (
    *("$AZ_BATCHAI_MOUNT_ROOT/logs", "${AZ_BATCHAI_JOB_MOUNT_ROOT}/data/x", "$AZ_BATCHAI_MOUNT_ROOT"),
    *(
        "/mnt/batch/tasks/shared/LS_root/mounts/data",
        "$AZ_BATCHAI_INPUT_A",
        "$AZ_BATCHAI_NONE",
        "AZ_BATCHAI_X",
    ),
    *(
        "<YOUR NAME>",
        "[your key]",
        "{{ x }}",
        "%s",
        "%(a)s",
        "<SLIPWAY_SCRIPT>",
        "<AZURE_BATCHAI_STORAGE_KEY>",
    ),
    *("\x00", "\u202e", "\ud800", "\t", "\n", "\r", " ", "", "a", "\u00e4", "ß", "A" * 201, "k" * 257),
    *(
        "TOKEN",
        "MY_PASSWORD",
        "connection_string",
        "accountKey",
        "accountKye",
        "credentials",
        "secrets",
        "name",
    ),
    *(
        "sig=abc",
        "https://u:p@h/",
        "https://h/p?sv=1",
        "A" * 44 + "==",
        "whsec_" + "A" * 12,
        "sealed:v1:QQ==",
    ),
)
#: What separates a name or a command from its value, or does not, and a few of each.
_NAMED = st.lists(
    st.sampled_from(
        (
            *("HF_TOKEN", "--api-key", "password", "Authorization", "bearer", "pass", "sig", "code", "sas2"),
            *("mysql", "curl", "redis-cli", "-p", "-u", "-a", "me:", "hunter2xyz", "$X", "]", "set"),
            *("=", ":", ":=", "=>", ",", " ", "\t", "'", '"', "\\", "\n", "\u00a0", "\u2028", ";", "/", "-"),
        )
    ),
    max_size=6,
).map("".join)
_TEXT = st.lists(st.sampled_from(_PIECES), min_size=1, max_size=3).map("".join)
_LINES = st.lists(_TEXT, min_size=1, max_size=3).map("\n".join)


def _sprinkled(data: st.DataObject) -> dict[str, Any]:
    """A valid document, some of whose texts and names are made of what the rules look for."""
    document: dict[str, Any] = copied(data.draw(st.sampled_from(VALID)))
    for _ in range(data.draw(st.integers(1, 4))):
        holder, key = data.draw(st.sampled_from(_places(document)))
        if data.draw(st.booleans()) and isinstance(holder, dict) and holder is not document:
            holder[data.draw(_LINES)] = holder.pop(key)
        elif isinstance(holder[key], str):
            holder[key] = data.draw(_LINES)
    return document


def _context(document: Any, place: dict[str, Any]) -> Context:
    return Context(Node("", document).member("properties"), _LIMITS, **place)


def _rules_agree(document: Any) -> None:
    for place in _PLACES:
        for rule in RULES:
            thorough: Callable[[Context], Any] = getattr(rule, "__wrapped__", rule)
            problems = list(rule(_context(document, place)))
            assert problems == list(thorough(_context(document, place))), rule.__name__
    assert list(texts(document, _LIMITS)) == list(by_place(document, _LIMITS))


def _secrets_agree(document: Any) -> None:
    sealed = seal_secrets(document, lambda at, value: f"sealed:v1:{len(value)}")
    if sealed is document:
        leaves = [(place.secret, place.parent[place.key]) for place in _leaves([document])]
        assert not [
            text for secret, text in leaves if isinstance(text, str) and (secret or ranges_to_seal(text))
        ]
    opened: list[str] = []
    open_secrets(sealed, lambda at, text: opened.append(text) or "")  # type: ignore[func-returns-value]
    assert any("sealed:v1:" in text for text in words(sealed).texts) is bool(opened)


def _reading_agrees(text: bytes) -> None:
    for limits in (_LIMITS, Limits(max_values=30, max_depth=5)):
        document, problems = read(text, limits)
        if problems:
            continue
        whole = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_once)
        assert document == whole
        assert _with_flaws(document, limits) == (document, ())
        assert count_values(document) <= limits.max_values
        assert _depth(document) <= limits.max_depth


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def _depth(document: Any) -> int:
    deepest, stack = 0, [(document, 0)]
    while stack:
        value, depth = stack.pop()
        if isinstance(value, dict | list):
            deepest = max(deepest, depth + 1)
            stack += [(one, depth + 1) for one in (value.values() if isinstance(value, dict) else value)]
    return deepest


def test_some_rules_have_a_shortcut_and_take_it_for_a_document_without_problems() -> None:
    skipped = [
        rule.__name__
        for rule in RULES
        if hasattr(rule, "__wrapped__") and rule(_context(VALID[0], _PLACES[2])) == ()
    ]

    assert {"environment", "on_a_mount", "placeholders", "variables"} <= set(skipped)
    assert texts(VALID[0], Limits()) == ()


@pytest.mark.parametrize("number", range(0, len(_DOCUMENTS), 20))
def test_shortcuts_agree_on_every_document_of_the_tests(number: int) -> None:
    for document in _DOCUMENTS[number : number + 20]:
        _rules_agree(document)
        _secrets_agree(document)
        _reading_agrees(json.dumps(document).encode())


def _texts_of_the_tests() -> Iterator[bytes]:
    yield from (bad.text.encode() for bad in TEXTS)
    yield from (bad[0] for bad in BAD_TEXTS)
    yield b"[" * 50_000
    yield b'{"a":' * 50_000
    yield b'{"a": [' + b"1," * 50_000 + b"1]}"
    yield b'{"a": "' + b'\\"[{' * 50_000 + b'"}'


def test_shortcuts_agree_on_every_text_of_the_tests() -> None:
    for text in _texts_of_the_tests():
        _reading_agrees(text)


@pytest.mark.parametrize("hostile", _HOSTILE, ids=range(len(_HOSTILE)))
def test_shortcuts_agree_on_hostile_texts(hostile: Callable[[int], str]) -> None:
    for length in (150, size(5_000, 1_000)):
        document = copied(VALID[0])
        for holder, key in _places(document):
            if isinstance(holder[key], str):
                holder[key] = hostile(length)
        _rules_agree(document)
        _secrets_agree(document)


@given(st.data())
@settings(max_examples=examples(200), deadline=None)
def test_shortcuts_agree_on_mutated_documents(data: st.DataObject) -> None:
    document = _mutated(data)
    _rules_agree(document)
    _secrets_agree(document)


@given(st.data())
@settings(max_examples=examples(300), deadline=None)
def test_shortcuts_agree_on_documents_made_of_what_rules_look_for(data: st.DataObject) -> None:
    document = _sprinkled(data)
    _rules_agree(document)
    _secrets_agree(document)
    _reading_agrees(json.dumps(document).encode())
    _reading_agrees(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))


@given(st.data())
@settings(max_examples=examples(100), deadline=None)
def test_completing_leaves_the_document_as_it_was(data: st.DataObject) -> None:
    document = _mutated(data)
    before = json.dumps(document)

    for defaults in (DEFAULTS, type(DEFAULTS)(cluster_id=CLUSTER, storage_account="account")):
        complete(document, defaults, script="a.py", folder="b")

    assert json.dumps(document) == before


@given(_NAMED)
@settings(max_examples=examples(2_000), deadline=None)
def test_a_text_that_is_not_searched_holds_no_named_secret(text: str) -> None:
    assert list(named_ranges(text)) == list(_search(text))
    assert set(_of_commands(text)) <= set(option_ranges(text))


def test_no_word_of_the_format_holds_a_secret() -> None:
    assert [word for word in _vocabulary() if any(_hidden_parts(word))] == []
