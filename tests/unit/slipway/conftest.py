"""Hides a local stack on this machine from the command, and lets it wait without sleeping."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.client.patience import patience
from tests.doubles.patience import Waits


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
