"""The headings of `slipway --help`."""

from __future__ import annotations

from collections import Counter

import pytest
import typer
from typer.testing import CliRunner

from slipway.cli_page import commands
from slipway.commands.help_groups import ELSEWHERE, GROUPS
from slipway.main import app


def test_every_command_stands_under_one_heading() -> None:
    tree = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert Counter(name for names in GROUPS.values() for name in names) == Counter(iter(tree))


def test_a_first_job_needs_the_eight_commands_that_come_first() -> None:
    help_text = CliRunner().invoke(app, ["--help"], prog_name="slipway").output
    first, *_ = GROUPS.values()
    places = [help_text.index(f"\n  {name} ") for names in GROUPS.values() for name in names]

    assert len(first) == 8
    assert places == sorted(places)
    assert [*dict.fromkeys(name.partition(" ")[0] for name in commands())] == [
        name for names in GROUPS.values() for name in names
    ], "the page has the same order"


#: Commands that share the place of another one, and the one of the command line itself.
SHARED = {"receipt": "show", "resume": "pause", "demo": "up", "logout": "login"}


def test_a_command_is_found_by_its_name() -> None:
    tree = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    places = {
        name: next(iter(getattr(one, "commands", {name: one}).values())).callback.__module__
        for name, one in tree.items()
    }
    assert places.pop("version") == "slipway.main"

    expected = {name: SHARED.get(name, name).replace("-", "_") for name in places}
    assert {
        name: place.removesuffix(".command").rpartition(".")[2] for name, place in places.items()
    } == expected
    assert {place.removesuffix(".command").rpartition(".")[0] for place in places.values()} == {
        "slipway.commands"
    }


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


@pytest.mark.parametrize("word", ELSEWHERE)
def test_a_word_of_another_system_names_the_command_here(word: str) -> None:
    tree = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert word not in tree
    assert ELSEWHERE[word] in tree

    ran = CliRunner().invoke(app, [word, "last", "--", "a b"], prog_name="slipway")

    assert ran.exit_code == 2
    assert f"did you mean `slipway {ELSEWHERE[word]} last -- 'a b'`?" in " ".join(ran.output.split())


def test_a_misspelt_option_of_a_group_is_no_name() -> None:
    assert "No such option: --bset" in CliRunner().invoke(app, ["sweep", "--bset"]).output
