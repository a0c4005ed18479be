"""`python -m local.bicep`: checks infra/*.bicep; the exit code is 1 if something is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

from local.bicep.check import check
from local.bicep.policy import weaknesses
from local.bicep.reader import read
from local.bicep.template import Template
from local.setup.steps import ROOT


def templates(folder: Path) -> dict[str, Template]:
    """The files of a folder, by the names with which modules refer to them."""
    return {path.name: read(path, f"{folder.name}/{path.name}") for path in sorted(folder.glob("*.bicep"))}


def hooks(folder: Path) -> dict[str, str]:
    """The scripts that azd runs beside them, by the names that findings show."""
    return {f"{folder.name}/hooks/{path.name}": path.read_text("utf-8") for path in folder.glob("hooks/*.sh")}


def main() -> int:
    """The exit code; writes what was found."""
    infra = ROOT / "infra"
    files = templates(infra)
    lines = [str(one) for one in (*check(files, hooks(infra)), *weaknesses(files))]
    code = int(bool(lines))
    resources = sum(len(one.resources) for one in files.values())
    sys.stdout.write(
        "\n".join(lines or [f"No finding in {len(files)} templates with {resources} resources."]) + "\n"
    )
    return code


if __name__ == "__main__":
    sys.exit(main())
