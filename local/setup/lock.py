"""`python -m local.setup.lock [--upgrade | --with GROUP]`: writes `uv.lock`, and lists for pip from it.

The groups of pyproject.toml say what we ask for; uv finds what that brings, for every platform and Python at
once, and the hash of each file. A version that is locked stays, unless it fits no more, or `--upgrade` asks
for newer ones. `--with telemetry` only writes `requirements.txt` again, with the packages of that group, too.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from local.setup.groups import UV, listed
from local.setup.steps import ROOT

#: What a deployment installs.
APP = "requirements.txt"
#: What uv says of each package, since pyproject.toml names the systems.
_EVERYWHERE = re.compile(
    r"(?: ;| and) platform_python_implementation == 'CPython' and "
    r"\(sys_platform == 'darwin' or sys_platform == 'linux'\)"
)
_WRITTEN = "# {about}\n# Written by `make lock` from pyproject.toml.\n"


def main(arguments: Sequence[str]) -> int:
    """Write the lock, and the lists from it."""
    parser = argparse.ArgumentParser(prog="python -m local.setup.lock", description=__doc__)
    parser.add_argument("--upgrade", action="store_true", help="newer versions of what our packages bring")
    parser.add_argument("--with", dest="more", metavar="GROUP", action="append", default=[])
    options = parser.parse_args(arguments)
    if not options.more:
        uv = [sys.executable, "-m", "uv", "lock", "--no-config", "--no-python-downloads", "--quiet"]
        index = ["--default-index=https://pypi.org/simple"]
        subprocess.run([*uv, *index, *(["--upgrade"] if options.upgrade else [])], cwd=ROOT, check=True)
        _write(UV, "What reads uv.lock.", ["uv"])
    _write(APP, "What the function app needs; a deployment installs it.", ["app", *options.more])
    return 0


def _write(name: str, about: str, groups: Sequence[str]) -> None:
    file, argv = listed(groups, Path(sys.prefix), ROOT / name)
    subprocess.run(argv, cwd=ROOT, check=True)
    file.write_text(_WRITTEN.format(about=about) + _EVERYWHERE.sub("", file.read_text()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
