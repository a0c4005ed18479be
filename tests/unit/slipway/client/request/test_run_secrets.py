"""Secrets of `slipway run`: where their values come from, and where they do not go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slipway.client.request.compose import Choices, compose
from slipway.client.request.request import Options, request_of
from slipway.client.request.secrets import (
    holds_secrets,
    refuse_secrets,
    secret_values,
    variables,
)
from slipway.failure import Failure

PREFIX = "$AZ_BATCHAI_MOUNT_ROOT/logs"
TOKEN = "hf_" + "cAnArY7c41x" * 3
JOB = {"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": "true"}}}


def no_terminal(name: str) -> str | None:
    return None


def test_a_variable_without_a_value_is_the_callers() -> None:
    assert variables(["A=1=2", "B", "C="], {"B": "b"}) == {"A": "1=2", "B": "b", "C": ""}
    with pytest.raises(Failure, match=r"--env D: the variable is not set here; set it, or write D="):
        variables(["D"], {})
    with pytest.raises(Failure, match="is not the name of a variable") as refusal:
        variables([f"A-B={TOKEN}"], {})
    assert TOKEN not in str(refusal.value)


def test_a_secret_is_the_callers_variable_or_is_questions_for() -> None:
    questions: list[str] = []

    def person(name: str) -> str:
        questions.append(name)
        return "typed"

    assert secret_values(["A", "B"], {"A": "mine"}, person) == {"A": "mine", "B": "typed"}
    assert questions == ["B"]


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("A", "there is no terminal to ask at; set it: read -rs A; export A"),
        (f"A={TOKEN}", "give only the name"),
        ("A-B", "use letters, digits and _"),
    ],
)
def test_a_secret_without_a_value_is_refused_with_the_remedy(name: str, remedy: str) -> None:
    with pytest.raises(Failure, match=remedy) as refusal:
        secret_values([name], {}, no_terminal)
    assert TOKEN not in str(refusal.value)


def test_an_empty_secret_is_refused() -> None:
    with pytest.raises(Failure, match="--secret A: the value is empty"):
        secret_values(["A"], {}, lambda _: "")


@pytest.mark.parametrize(
    "pair", [("HF_TOKEN", "x"), ("A", TOKEN), ("DB_PASS", "x"), ("MY_CREDS", "x"), ("AUTH", "x")]
)
def test_variables_that_look_secret_become_secrets(pair: tuple[str, str]) -> None:
    choices = Choices(environment={"LEVEL": "3", pair[0]: pair[1]}, secrets={"KEY": "x"})

    properties = compose("train.py", choices, PREFIX)["properties"]

    assert properties["environmentVariables"] == [{"name": "LEVEL", "value": "3"}]
    assert {(one["name"], one["value"]) for one in properties["secrets"]} == {("KEY", "x"), pair}


@pytest.mark.parametrize(
    "choices",
    [Choices(secrets={"A": TOKEN}), Choices(environment={"A": TOKEN}), Choices(arguments=("--key", TOKEN))],
)
def test_a_job_json_that_is_shown_has_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], choices: Choices
) -> None:
    (tmp_path / "train.py").touch()

    request = request_of(tmp_path / "train.py", Options(choices), PREFIX)
    assert TOKEN in json.dumps(request.message)

    shown = capsys.readouterr()
    assert TOKEN not in shown.err + shown.out
    assert "***" in shown.err
    with pytest.raises(Failure, match="--save would write a secret"):
        request_of(tmp_path / "train.py", Options(choices, keep=True), PREFIX)
    assert not (tmp_path / "job.json").exists()


@pytest.mark.parametrize("place", ["environmentVariables", "commandLine", "secrets", "spec"])
def test_a_job_json_with_a_secret_is_not_dropped_unless_that_is_forced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    value = {"name": "HF_TOKEN", "value": "hf_abcdefghijklmnopqrstuvwxyz0123"}
    properties = {
        "environmentVariables": {**JOB["properties"], "environmentVariables": [value]},
        "commandLine": {
            **JOB["properties"],
            "customToolkitSettings": {
                "commandLine": "HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz0123 python a.py"
            },
        },
        "secrets": {**JOB["properties"], "secrets": [value]},
        "spec": {"token": "x"},
    }
    document = {"spec" if place == "spec" else "properties": properties[place]}
    (tmp_path / "job.json").write_text(json.dumps(document))

    with pytest.raises(Failure, match=r"nothing was uploaded.*slipway run --secret NAME"):
        refuse_secrets(tmp_path)
    refuse_secrets(tmp_path, force=True)

    shown = capsys.readouterr().err
    assert "slipway run --secret NAME" in shown
    assert "hf_" not in shown


@pytest.mark.parametrize("text", [json.dumps(JOB), "{"])
def test_a_job_json_without_a_secret_is_dropped_without_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "job.json").write_text(text)

    refuse_secrets(tmp_path)

    assert capsys.readouterr().err == ""


def test_the_placeholder_of_the_accounts_key_is_not_a_secret(tmp_path: Path) -> None:
    mount = {"credentials": {"accountKey": "<AZURE_BATCHAI_STORAGE_KEY>"}}
    properties = {**JOB["properties"], "mountVolumes": {"azureFileShares": [mount]}}
    (tmp_path / "job.json").write_text(json.dumps({"properties": properties}))

    assert not holds_secrets(tmp_path / "job.json")
