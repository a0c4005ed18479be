"""An empty word, as a shell makes of a variable that is not set, never means this directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from slipway import AsyncClient, Failure
from slipway.cli_page import commands
from slipway.main import app


@pytest.mark.parametrize("name", commands())
def test_every_command_refuses_an_empty_argument(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for word in ("", "  "):
        result = CliRunner().invoke(app, [*name.split(), word])
        assert (result.exit_code, "an argument is empty" in result.output) == (2, True), result.output


@pytest.mark.parametrize(
    "words",
    [
        ("drop", ".", "--to", ""),
        ("data", "put", ".", "--to="),
        ("run", ".", "--to", " "),
        ("drop", "--force", ""),
        ("download", "last", "--to", "", "--key", ""),
        ("submit", "job.json", "--settings", ""),
    ],
)
def test_an_empty_value_is_refused(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").touch()

    result = CliRunner().invoke(app, words)

    assert (result.exit_code, "is empty. Give it a value" in result.output) == (2, True), result.output


def test_what_may_be_empty_and_the_words_of_a_script_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    result = CliRunner().invoke(app, ["run", "--url", "http://127.0.0.1:9", "--key", "", "none.py", "--", ""])

    assert result.exit_code == 1
    assert "is empty" not in result.output


async def test_the_client_for_python_refuses_it() -> None:
    with pytest.raises(Failure, match="no path is named"):
        await AsyncClient("http://127.0.0.1:9").run("")
