"""The headings of `slipway --help`."""

from __future__ import annotations

from collections import Counter

import pytest
import typer
from typer.testing import CliRunner

from slipway.commands.help_groups import GROUPS
from slipway.main import app


def test_every_command_stands_under_one_heading() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert Counter(name for names in GROUPS.values() for name in names) == Counter(iter(commands))


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["sweep", "tune", "--best", "loss"], "slipway sweep show tune --best loss"),
        (["events", "last"], "slipway events list last"),
        (["data", "a b"], "slipway data ls 'a b'"),
    ],
)
def test_a_group_says_how_its_usual_command_takes_what_is_none(words: list[str], command: str) -> None:
    ran = CliRunner().invoke(app, words, prog_name="slipway")

    assert ran.exit_code == 2
    assert f"did you mean `{command}`?" in ran.output


def test_a_misspelt_option_of_a_group_is_no_name() -> None:
    assert "No such option: --bset" in CliRunner().invoke(app, ["sweep", "--bset"]).output
