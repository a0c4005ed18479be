"""Hides a local stack on this machine from the command, and lets it wait without sleeping."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.main
import typer.testing

from slipway.client.calls.patience import patience
from tests.doubles.patience import Waits


@pytest.fixture(autouse=True, scope="session")
def one_command() -> Iterator[None]:
    """Typer makes all commands anew for each call, which takes longer than most of the calls do."""
    with pytest.MonkeyPatch.context() as patch:
        created = cache(typer.main.get_command)
        patch.setattr(typer.main, "get_command", created)
        patch.setattr(typer.testing, "_get_command", created)
        yield


@pytest.fixture(autouse=True)
def waits() -> Iterator[Waits]:
    """The waits of the client between two tries, which take no time here."""
    waits = Waits()
    with patience(waits.patience()):
        yield waits


@pytest.fixture(autouse=True)
def no_stack(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which a local stack would keep its data."""
    folder = tmp_path_factory.mktemp("stacks")
    usual = folder / "up"
    monkeypatch.setattr("slipway.settings.UP", usual)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return usual
