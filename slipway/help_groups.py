"""`slipway --help`: the commands by what people come for. The types of its context are private to typer."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

GROUPS = {
    "Run jobs": ("init", "run", "submit", "drop", "enqueue", "rerun", "data", "validate", "explain"),
    "Look at jobs": (
        *("jobs", "show", "log", "metrics", "sweep", "wait"),
        *("files", "download", "cat", "receipt"),
    ),
    "Operate": ("cancel", "pause", "resume", "nodes", "audit", "events", "dead", "setup"),
    "Local stack": ("up", "demo", "preempt", "az-env"),
    "The command itself": ("login", "logout", "doctor", "version"),
}


class Grouped(TyperGroup):
    """A group whose help shows its commands under headings."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A section for each heading; the sentences stand below each other in all of them."""
        width = max(map(len, self.commands))
        for title, names in GROUPS.items():
            with formatter.section(title):
                limit = formatter.width - 6 - width
                rows = [
                    (name.ljust(width), self.commands[name].get_short_help_str(limit))
                    for name in names
                    if name in self.commands
                ]
                formatter.write_dl(rows)
