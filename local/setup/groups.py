"""The packages of dependency groups, from `uv.lock`, as requirements with the hashes of their files.

`python -m local.setup.groups [--target DIR] GROUP…` installs them where this Python's packages are, or in a
folder. Standard library only, and no syntax newer than Python 3.6: an old python3 must be able to read it.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Iterable  # noqa: UP035 - an old Python must be able to read this

from local.setup.steps import LOGS, ROOT

#: uv, which reads the lock, with its hashes; `make lock` writes it.
UV = "local/setup/uv.txt"
#: The groups of an environment in which the project is worked on, and of one that runs the local stack.
DEMO = ("app", "local")
DEV = (*DEMO, "telemetry", "dev", "site")


def listed(groups: "Iterable[str]", venv: Path, out: "Path | None" = None) -> "tuple[Path, list[str]]":
    """The file for the packages of groups, and the command that writes it; uv is in this environment.

    Nothing is downloaded: pip does that, from the index that it is configured for.
    """
    names = sorted(groups)
    file = out or LOGS / "{}.txt".format("-".join(names))
    argv = [str(venv / "bin" / "python"), "-m", "uv", "export", "--quiet", "--frozen", "--offline"]
    argv += ["--no-config", "--no-cache", "--no-header", "--no-annotate", "--no-python-downloads"]
    argv += ["--python={}".format(venv / "bin" / "python"), f"--output-file={file}"]
    return file, argv + [f"--only-group={name}" for name in names]


def pip(venv: Path) -> "list[str]":
    """The beginning of an installation by this environment's pip."""
    python = str(venv / "bin" / "python")
    return [python, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--progress-bar=off"]


def main(arguments: "list[str]") -> int:
    """Install the packages, with those that pin the rest of the environment."""
    parser = argparse.ArgumentParser(prog="python -m local.setup.groups", description="Install groups.")
    parser.add_argument("--target", help="a folder for them")
    parser.add_argument("groups", nargs="+")
    options = parser.parse_args(arguments)
    file, argv = listed(options.groups, Path(sys.prefix))
    LOGS.mkdir(parents=True, exist_ok=True)
    where = ["--target", options.target] if options.target else []
    for command in (argv, [*pip(Path(sys.prefix)), "--quiet", "--require-hashes", *where, "-r", str(file)]):
        code = subprocess.call(command, cwd=str(ROOT))
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
