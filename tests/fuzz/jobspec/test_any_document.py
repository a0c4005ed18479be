"""Every document gets an answer, soon, that shows no secret."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.jobspec import (
    Defaults,
    complete,
    is_bare_job,
    open_secrets,
    read,
    read_envelope,
    redact,
    script_pattern,
    scripts_wanted,
    seal_secrets,
    validate,
    with_credentials,
)
from shared.jobspec.checks.shape import _names_at
from shared.jobspec.format.models import JobSpec
from shared.jobspec.format.toolkits import TOOLKITS
from tests.breadth import examples, size
from tests.unit.jobspec.jobs import CLUSTER, SCRIPT, everything, job, share
from tests.unit.jobspec.secrets.test_secrets import CANARY, PLACES

DEFAULTS = Defaults(
    cluster_id=CLUSTER,
    clusters={"a": CLUSTER},
    storage_account="account",
    drop_container="drop",
    drop_account="account",
    std_out_err_path_prefix="/x",
)
_NAMES = (
    *_names_at(JobSpec, ("properties",)),
    *(
        "properties",
        "id",
        "name",
        "value",
        "credentials",
        "accountKey",
        "azureFileShares",
        "relativeMountPath",
    ),
    *("azureFileUrl", "accountName", "commandLine", "pythonScriptFilePath", "pathPrefix", "maxWallClockTime"),
    *("spec", "notify", "url", "labels", "events", "cluster", "imageSourceRegistry", "password"),
)
_TEXTS = st.one_of(
    st.text(),
    st.sampled_from(
        [
            SCRIPT,
            "$AZ_BATCHAI_INPUT_A",
            "<SLIPWAY_SCRIPT:*.py>",
            "<AZURE_BATCHAI_STORAGE_ACCOUNT>",
            "P7D",
            "https://[",
        ]
    ),
)
_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), _TEXTS)
_JSON = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(_NAMES), st.text(max_size=8)), inner, max_size=6),
    ),
    max_leaves=30,
)


def _everything(document: Any) -> str:
    """Runs each function over the document; all that people may get to see of it."""
    completed, _ = complete(document, DEFAULTS, script="a.py", folder="b")
    script_pattern(document)
    scripts_wanted(completed)
    is_bare_job(document)
    with_credentials(document, {"account": "k"})
    seal_secrets(document, lambda _, value: value)
    open_secrets(document, lambda _, value: value)
    findings = (
        validate(document, cluster_mounts=[], clusters={}, accounts=[])[1],
        validate(completed)[1],
        read_envelope(document)[1],
        read_envelope(document, drop=True)[1],
    )
    shown = [problem.as_dict() for problems in findings for problem in problems]
    json.dumps(shown).encode()
    assert all(text.isprintable() for entry in shown for text in entry.values())
    return str([shown, findings, redact(document)])


@given(_JSON)
@settings(max_examples=examples(150), deadline=None)
def test_no_json_makes_anything_raise(document: Any) -> None:
    _everything(document)
    _everything({"properties": document})


@given(st.dictionaries(st.sampled_from(_NAMES), _JSON, max_size=6))
@settings(max_examples=examples(100), deadline=None)
def test_no_job_makes_anything_raise(properties: dict[str, Any]) -> None:
    _everything({"properties": {**job()["properties"], **properties}})


@given(st.binary())
@settings(deadline=None)
def test_no_bytes_make_reading_raise(data: bytes) -> None:
    document, problems = read(data)
    assert (document is None) is bool(problems)


@given(st.text(alphabet="{}[]\",:\\ \n\t1eEtrunfalsNI-+./*#'abc", max_size=60))
@settings(max_examples=examples(300), deadline=None)
def test_no_text_makes_reading_raise(text: str) -> None:
    document, problems = read(text.encode())
    assert (document is None) is bool(problems)


@given(_JSON.filter(lambda value: isinstance(value, dict)))
@settings(deadline=None)
def test_what_is_read_is_what_was_written(document: dict[str, Any]) -> None:
    try:
        text = json.dumps(document, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, UnicodeEncodeError):
        return
    result, problems = read(text)
    assert result == document or {problem.code for problem in problems} <= {"SW006", "SW007"}


def _paths(document: Any) -> list[tuple[Any, Any]]:
    """Every place of the document: the object or list that holds it, and its key."""
    results: list[tuple[Any, Any]] = []
    stack = [document]
    while stack:
        node = stack.pop()
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            results.append((node, key))
            if isinstance(node[key], dict | list):
                stack.append(node[key])
    return results


@pytest.mark.parametrize(("pointer", "document"), PLACES, ids=[pointer for pointer, _ in PLACES])
def test_no_secret_is_shown(pointer: str, document: Any) -> None:
    assert CANARY not in _everything(document), pointer


@given(st.data())
@settings(max_examples=examples(200), deadline=None)
def test_the_value_of_an_unknown_property_is_never_in_a_finding(data: st.DataObject) -> None:
    document = everything()
    holders = [holder for holder, _ in _paths([document]) if isinstance(holder, dict)]
    holder = data.draw(st.sampled_from(holders))
    holder[data.draw(st.sampled_from(["accountkey", "acct", "x", "commandLineArg", "Password"]))] = data.draw(
        st.sampled_from(
            [CANARY, [CANARY], {"a": CANARY}, f"<{CANARY}>", f"$AZ_BATCHAI_INPUT_{CANARY}", f"\x00{CANARY}"]
        )
    )

    for problems in (
        validate(document)[1],
        validate(document, cluster_mounts=[], clusters={}, accounts=[])[1],
    ):
        assert problems
        assert CANARY not in str(problems)


_HOSTILE: tuple[Callable[[int], str], ...] = (
    lambda size: "a" * size,
    lambda size: "$" * size,
    lambda size: "<" * size,
    lambda size: "<A" * (size // 2),
    lambda size: "[your " * (size // 6),
    lambda size: "/" * size,
    lambda size: "a/" * (size // 2),
    lambda size: "a-" * (size // 2),
    lambda size: "a." * (size // 2),
    lambda size: "http://" * (size // 7),
    lambda size: "https://a@" * (size // 10),
    lambda size: "P" + "1" * size,
    lambda size: "sig=" * (size // 4),
    lambda size: "${AZ_BATCHAI_INPUT_" * (size // 19),
    lambda size: "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/" * (size // 35),
    lambda size: "$AZ_BATCHAI_JOB_MOUNT_ROOT/" + "a/" * (size // 2),
    lambda size: "<SLIPWAY_SCRIPT:" * (size // 16),
    lambda size: "\\" * size,
    lambda size: "\u202e" * size,
)


@pytest.mark.parametrize("hostile", _HOSTILE, ids=range(len(_HOSTILE)))
def test_long_hostile_texts_are_answered(hostile: Callable[[int], str]) -> None:
    """No pattern may backtrack: a slow one would not end within the patience of the test run."""
    text = hostile(size(20_000, 5_000))
    document = everything()
    for holder, key in _paths(document):
        if isinstance(holder[key], str) and key != "$schema":
            holder[key] = text

    shown = _everything(document)

    spec, problems = validate(document)
    assert spec is None
    assert len(str(problems)) < 40_000
    assert shown


def test_long_names_of_properties_are_answered_and_cut() -> None:
    document = job(
        **{("k" * 50_000) + str(index): 1 for index in range(5)}, **{f"accountKe{n}": 1 for n in range(999)}
    )

    assert len(str(validate(document)[1])) < 100_000
    assert _everything(document)


def test_all_toolkits_at_once_are_answered() -> None:
    blocks: dict[str, Any] = {name: {"commandLineArgs": "x", "zzz": CANARY} for name in TOOLKITS}

    _, problems = validate({"properties": {**share()["properties"], **blocks}})

    assert {"SW021", "SW012", "SW010"} <= {problem.code for problem in problems}
    assert CANARY not in str(problems)


def _many(count: int) -> dict[str, Any]:
    """A job with as many mistakes of each kind."""
    root = "$AZ_BATCHAI_JOB_MOUNT_ROOT"
    return job(
        mountVolumes={"azureFileShares": [{"relativeMountPath": f"k{number}"} for number in range(count)]},
        inputDirectories=[{"id": f"K{number}", "path": f"{root}/x{number}"} for number in range(count)],
        outputDirectories=[{"id": f"O{number}", "pathPrefx": f"{root}/x"} for number in range(count)],
        environmentVariables=[
            {"name": f"A{number}", "value": f"$AZ_BATCHAI_INPUT_X{number}"} for number in range(count)
        ],
        secrets=[{"name": f"A{number}", "vlaue": ""} for number in range(count)],
        customToolkitSettings={"commandLine": " ".join(f"{root}/y{number}" for number in range(count))},
    )


def _calls(document: Any) -> int:
    """How many functions of Python are entered, generators at each step, while everything is done with it."""
    count = 0

    def entered(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(entered)
    try:
        _everything(document)
    finally:
        sys.setprofile(None)
    return count


def test_twice_as_much_of_everything_costs_twice_as_much() -> None:
    """No finding may cost more the more there are."""
    _calls(_many(1))  # what is made once is made

    assert _calls(_many(120)) < 2.3 * _calls(_many(60))
