"""The outcome of a download, for people and for programs."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipway.client.files.saving import Outcome, failures


@dataclass(frozen=True)
class Fetched:
    """The saved files and their folder; what could not be saved, and what is not a file, with the reasons."""

    outcome: Outcome
    folder: Path
    failed: Sequence[tuple[str, str]]
    left_out: Sequence[tuple[str, str]] = ()

    @property
    def code(self) -> int:
        """The exit code: 1 if a file could not be fetched."""
        return int(bool(self.failed))

    @property
    def text(self) -> str:
        """A sentence for people: how much was saved, and where."""
        return summary(self.outcome, self.folder)

    @property
    def answer(self) -> dict[str, Any]:
        """For programs."""
        return {
            "saved": self.outcome.saved,
            "bytes": self.outcome.bytes,
            "present": self.outcome.present,
            "folder": str(self.folder),
            "failed": failures(self.failed),
            "leftOut": failures(self.left_out),
        }


def summary(outcome: Outcome, folder: Path) -> str:
    """What was saved, in a line."""
    addition = f"; {outcome.present} were there already" if outcome.present else ""
    lost = f"; {len(outcome.failed)} could not be saved" if outcome.failed else ""
    files = "file" if outcome.saved == 1 else "files"
    return f"{outcome.saved} {files}, {outcome.bytes:,} bytes, in {folder}{os.sep}{addition}{lost}"
