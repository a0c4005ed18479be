"""A name that no container can have is said to be one, by whichever option or setting it comes."""

import pytest
from typer.testing import CliRunner

from slipway.failure import Failure
from slipway.main import app

WRONG = ["UPPER!!", "a", "two--dashes", "x" * 64, "../scripts"]


@pytest.fixture(autouse=True)
def development(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPWAY_STORAGE", "UseDevelopmentStorage=true")


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize(
    "words",
    [
        *(["data", "ls", "--container"], ["data", "get", "x", "--container"]),
        *(["data", "put", __file__, "--container"], ["setup", "--data-container"], ["setup", "--share"]),
    ],
)
def test_an_option_is_named(words: list[str], name: str) -> None:
    result = CliRunner().invoke(app, [*words, name])

    assert isinstance(result.exception, Failure), result.output
    assert str(result.exception).startswith(f"{words[-1]} {name[:80]!r}: the name of a ")
    assert "3 to 63 lowercase letters, digits and single dashes" in str(result.exception)


@pytest.mark.parametrize("name", ["SLIPWAY_DROP_CONTAINER", "SLIPWAY_RECEIPTS_CONTAINER"])
@pytest.mark.parametrize("command", [["data", "ls"], ["setup"], ["enqueue", "examples/message.json"]])
def test_a_setting_is_named(name: str, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "UPPER!!")

    result = CliRunner().invoke(app, command)

    assert f"{name} must name a container" in str(result.exception), result.output


def test_a_table_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPWAY_LEDGER_TABLE", "1-x")

    result = CliRunner().invoke(app, ["setup"])

    assert "SLIPWAY_LEDGER_TABLE must name a table" in str(result.exception)
