"""Hides a local stack on this machine from the command."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_stack(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which a local stack would keep its data."""
    folder = tmp_path_factory.mktemp("stacks")
    usual = folder / "up"
    monkeypatch.setattr("slipway.settings.UP", usual)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return usual
