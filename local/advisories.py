"""`python -m local.advisories [--strict]`: is a known vulnerability in a pinned package? Asks pip-audit.

Asks the advisory service of the Python Package Index. Where it does not answer nothing was audited: that is
said, never passed over, and is an error with `--strict`.
"""

import argparse
import json
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
#: Its own environment, so that what it needs is not pinned with ours.
_HOME = ROOT / ".venv-audit"
_TOOL = "pip-audit==2.10.1"
_PATIENCE = 300.0
_PINNED = "constraints.txt"


def verdict(report: Mapping[str, Any]) -> tuple[list[str], list[str], int]:
    """Of a report of pip-audit: known vulnerabilities, packages it could not tell of, the number of all."""
    packages = report["dependencies"]
    known = [
        f"{package['name']} {package['version']}: {one['id']}, "
        f"mended in {', '.join(one['fix_versions']) or 'no version yet'}"
        for package in packages
        for one in package.get("vulns", ())
    ]
    return known, [package["name"] for package in packages if "skip_reason" in package], len(packages)


def audit() -> Mapping[str, Any] | str:
    """The report, or in words why there is none."""
    tool = _HOME / "bin" / "pip-audit"
    command = [str(tool), "--disable-pip", "--no-deps", "--requirement", _PINNED, "--format", "json"]
    try:
        if not tool.exists():
            venv.create(_HOME, clear=True, with_pip=True)
            pip = [str(_HOME / "bin" / "python"), "-m", "pip", "install", "--quiet", _TOOL]
            subprocess.run(pip, cwd=ROOT, check=True, capture_output=True, timeout=_PATIENCE)
        done = subprocess.run(
            [*command, "--progress-spinner", "off", "--timeout", "10"],
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
        )
        report: Mapping[str, Any] = json.loads(done.stdout)
    except subprocess.CalledProcessError:
        return f"{_TOOL} could not be installed"
    except subprocess.TimeoutExpired:
        return f"no answer within {_PATIENCE:g} s"
    except ValueError:
        return (done.stderr.strip().splitlines() or ["pip-audit said nothing"])[-1]
    return report


def main(arguments: Sequence[str]) -> int:
    """0: nothing is known against any package, or without --strict nobody could be asked. 1: else."""
    parser = argparse.ArgumentParser(prog="python -m local.advisories", description=__doc__)
    parser.add_argument("--strict", action="store_true", help="fail as well when a package was not audited")
    options = parser.parse_args(arguments)
    report = audit()
    known, untold, count = ([], [report], 0) if isinstance(report, str) else verdict(report)
    lines = known
    if untold:
        which = untold[0] if not count else f"{len(untold)} of {count} packages: {', '.join(untold[:3])}, …"
        lines = [*lines, f"NOT AUDITED: {which}. The Python Package Index did not tell their advisories."]
    sys.stdout.write("\n".join(lines or [f"No known vulnerability in {count} packages."]) + "\n")
    return 1 if known or (untold and options.strict) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
