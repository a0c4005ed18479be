"""The headings of `slipway --help`."""

from __future__ import annotations

from collections import Counter

import typer

from slipway.help_groups import GROUPS
from slipway.main import app


def test_every_command_stands_under_one_heading() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert Counter(name for names in GROUPS.values() for name in names) == Counter(iter(commands))
