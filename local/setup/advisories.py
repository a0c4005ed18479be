"""`python -m local.setup.advisories [--strict]`: known vulnerabilities of pinned packages, by pip-audit.

Asks the advisory service of the Python Package Index. If that does not answer, nothing was audited: this is
always shown, and is an error with `--strict`.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from local.setup.groups import listed
from local.setup.steps import LOGS, ROOT
from local.setup.tools import tool

_PATIENCE = 300.0


class Verdict(NamedTuple):
    """Known vulnerabilities, packages that could not be checked, and how many packages there are."""

    vulnerable: list[str]
    unchecked: list[str]
    total: int


def verdict(report: Mapping[str, Any]) -> Verdict:
    """What pip-audit reports."""
    packages = report["dependencies"]
    vulnerable = [
        f"{package['name']} {package['version']}: {one['id']}, "
        f"fixed in {', '.join(one['fix_versions']) or 'no version yet'}"
        for package in packages
        for one in package.get("vulns", ())
    ]
    unchecked = [package["name"] for package in packages if "skip_reason" in package]
    return Verdict(vulnerable, unchecked, len(packages))


class NotAuditedError(Exception):
    """There is no report; the message gives the reason."""


def audit() -> Mapping[str, Any]:
    """The report of pip-audit on every pinned package. Raises NotAuditedError."""
    command = ["--disable-pip", "--no-deps", "--requirement", str(_pinned()), "--format", "json"]
    try:
        process = subprocess.run(
            [str(tool("pip-audit")), *command, "--progress-spinner", "off", "--timeout", "10"],
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
        )
        report: Mapping[str, Any] = json.loads(process.stdout)
    except subprocess.CalledProcessError:
        raise NotAuditedError("pip-audit could not be installed") from None
    except subprocess.TimeoutExpired:
        raise NotAuditedError(f"no answer within {_PATIENCE:g} s") from None
    except ValueError:
        words = process.stderr.strip().splitlines() or ["pip-audit said nothing"]
        raise NotAuditedError(words[-1]) from None
    return report


def _pinned() -> Path:
    """A list of all packages of the lock. Raises SubprocessError."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    LOGS.mkdir(parents=True, exist_ok=True)
    file, argv = listed(groups, Path(sys.prefix), LOGS / "all.txt")
    subprocess.run([*argv, "--no-hashes"], cwd=ROOT, check=True, capture_output=True, timeout=_PATIENCE)
    return file


def main(arguments: Sequence[str]) -> int:
    """0: no known vulnerability, or, without --strict, no answer from the service. 1: otherwise."""
    parser = argparse.ArgumentParser(prog="python -m local.setup.advisories", description=__doc__)
    parser.add_argument("--strict", action="store_true", help="fail as well when a package was not audited")
    options = parser.parse_args(arguments)
    try:
        vulnerable, unchecked, total = verdict(audit())
    except NotAuditedError as error:
        vulnerable, unchecked, total = [], [str(error)], 0
    lines = vulnerable
    if unchecked:
        some = ", ".join(unchecked[:3])
        which = f"{len(unchecked)} of {total} packages: {some}, …" if total else unchecked[0]
        lines = [*lines, f"NOT AUDITED: {which}. The Python Package Index did not return their advisories."]
    sys.stdout.write("\n".join(lines or [f"No known vulnerability in {total} packages."]) + "\n")
    return 1 if vulnerable or (unchecked and options.strict) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
