"""`python -m local.bicep`: checks infra/*.bicep; the exit code is 1 if something is wrong.

If the types cannot be fetched, it checks syntax and names, and lists what it did not check.
"""

from __future__ import annotations

import sys
from pathlib import Path

from local.bicep.check import check
from local.bicep.fetch import TYPES, fetch
from local.bicep.policy import weaknesses
from local.bicep.reader import read
from local.bicep.schema_program import NoTypesError
from local.bicep.template import Template
from local.bicep.types import Types
from local.setup.interpreter import InstallError
from local.setup.steps import ROOT


def templates(folder: Path) -> dict[str, Template]:
    """The files of a folder, by the names with which modules refer to them."""
    return {path.name: read(path, f"{folder.name}/{path.name}") for path in sorted(folder.glob("*.bicep"))}


def main() -> int:
    """The exit code; writes what was found, and what was not checked."""
    files = templates(ROOT / "infra")
    kinds = {resource.type.partition("@")[0] for one in files.values() for resource in one.resources}
    untyped = ""
    try:
        fetch(kinds)
    except (NoTypesError, InstallError) as error:
        untyped = f" ({error})"
    report = check(files, Types(TYPES))
    findings = [*report.findings, *weaknesses(files)]
    lines = [str(one) for one in findings]
    if report.untyped:
        lines.append(f"NOT CHECKED (no types available){untyped}: {', '.join(sorted(report.untyped))}")
    resources = sum(len(one.resources) for one in files.values())
    if not findings:
        lines.append(f"No finding in {len(files)} templates with {resources} resources.")
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
