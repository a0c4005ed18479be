"""The jobs of a sweep: their values, and where these stand."""

from __future__ import annotations

from typing import Any

import pytest

from shared.jobspec import Problem, Value, combinations, filled, longest, read_envelope
from shared.jobspec.job_sweep import size
from tests.unit.jobspec.jobs import job


def test_combinations_are_in_order_and_the_last_parameter_changes_fastest() -> None:
    parameters = {"lr": [0.1, 1], "on": [True, False], "seed": {"range": [3, 0, -2]}}

    every = combinations(parameters)

    assert len(every) == size(parameters) == 8
    assert every[0] == {"lr": 0.1, "on": True, "seed": 3}
    assert every[1] == {"lr": 0.1, "on": True, "seed": 1}
    assert every[-1] == {"lr": 1, "on": False, "seed": 1}


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("--lr {lr}", "--lr 0.1"),
        ("--lr={lr},{lr}", "--lr=0.1,0.1"),
        ("${lr} $lr {{lr}} \\{lr} {LR} {lr } {other}", "${lr} $lr {{lr}} \\{lr} {LR} {lr } {other}"),
        ("awk '{print}' && echo \"{on}\" {text}", "awk '{print}' && echo \"true\" a/b=1"),
    ],
)
def test_only_names_of_parameters_in_braces_are_replaced(command: str, result: str) -> None:
    document = job(customToolkitSettings={"commandLine": command}, jobPreparation={"commandLine": command})
    values: dict[str, Value] = {"lr": 0.1, "on": True, "text": "a/b=1"}

    properties = filled(document, values)["properties"]

    assert properties["customToolkitSettings"]["commandLine"] == result
    assert properties["jobPreparation"]["commandLine"] == result
    assert document["properties"]["customToolkitSettings"]["commandLine"] == command


def test_each_value_is_in_the_environment_after_the_jobs_own_variables() -> None:
    own = [{"name": "A", "value": "{lr}"}]

    properties = filled(job(environmentVariables=own), {"lr": 1e-05, "on": False})["properties"]

    assert properties["environmentVariables"] == [
        *own,
        {"name": "SLIPWAY_SWEEP_LR", "value": "1e-05"},
        {"name": "SLIPWAY_SWEEP_ON", "value": "false"},
    ]


@pytest.mark.parametrize("document", [{}, {"properties": None}, {"properties": {"environmentVariables": 1}}])
def test_a_document_of_another_shape_is_left_to_validation(document: dict[str, Any]) -> None:
    assert filled(document, {"lr": 1}) == document


def test_the_longest_combination_has_the_longest_text_of_each_parameter() -> None:
    parameters = {"a": ["x", "long", "y"], "b": {"range": [9, 12]}, "c": [True, 0.125, 3]}

    assert longest(parameters) == {"a": "long", "b": 10, "c": 0.125}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("password", ["a"]),
        ("token", [1, "a"]),
        ("m", ["a", "ghp_" + "a" * 36]),
        ("m", ["https://me:pw@host"]),
    ],
)
def test_values_that_look_like_secrets_are_refused_since_everyone_sees_them(
    name: str, values: list[Any]
) -> None:
    (problem,) = [one for one in _problems({name: values}) if one.severity == "error"]

    assert (problem.code, problem.pointer) == ("SW069", f"/sweep/{name}")
    assert "look like secrets" in problem.message


@pytest.mark.parametrize("parameters", [{"tokens": ["a"]}, {"token": [1, 2]}, {"path": ["s3:a/b=c,d"]}])
def test_other_values_are_not(parameters: dict[str, Any]) -> None:
    assert [one for one in _problems(parameters) if one.severity == "error"] == []


def _problems(parameters: dict[str, Any]) -> tuple[Problem, ...]:
    return read_envelope({"spec": job(), "sweep": parameters}).problems


@pytest.mark.parametrize(
    "parameters",
    [
        {"seed": {"range": [0, 1000]}},
        {f"p{number}": [1] for number in range(8)},
        {"on": [True, False]},
        {"n": [10**15, -(10**15)]},
        {"n": {"range": [10**15 - 2, 10**15]}},
    ],
)
def test_what_reaches_a_bound_is_allowed(parameters: dict[str, Any]) -> None:
    envelope, problems = read_envelope({"specBlob": "drop/job.json", "sweep": parameters})

    assert (envelope and envelope.sweep, problems) == (parameters, ())


@pytest.mark.parametrize("numbers", [[10**15, 10**15 + 2], 2, "01"])
def test_a_range_of_other_things_has_the_wrong_form(numbers: Any) -> None:
    _, (problem,) = read_envelope({"specBlob": "drop/job.json", "sweep": {"n": {"range": numbers}}})

    assert (problem.code, problem.pointer) == ("SW069", "/sweep/n")
    assert 'write {"range": [start, stop]}' in str(problem.remedy)
