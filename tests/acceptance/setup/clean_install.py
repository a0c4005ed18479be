"""`python -m tests.acceptance.setup.clean_install VERSION…`: plain pip installs the app, and the command.

Into new environments of each Python. The app as remote builds do it, where a package whose hashes
were changed is refused; the command from its wheel, as pipx does it. Not in the suite: no test there
dials out.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from local.setup.interpreter import Interpreter, ask, candidates
from tests.acceptance.setup.package import PACKAGES, Size, measure, package
from tests.acceptance.setup.wheel import wheel

ROOT = Path(__file__).resolve().parents[3]
#: The Pythons of the app; the command is for more of them.
_OF_APP = ("3.11", "3.13")
#: On which the command is tried with the oldest packages, too: newer ones have no builds of these.
_WITH_OLDEST = "3.11"
#: What the app asks for itself, and what that brings: a package of each.
_OF_APP_LIST = ("pyjwt", "idna")
#: What the command alone is asked, what it says, and whether it fails.
_COMMANDS: tuple[tuple[tuple[str, ...], str, bool], ...] = (
    (("--help",), "logout", False),
    (("skill",), "Guard rails", False),
    (("version",), "slipway ", False),
    (("validate", "job.json"), "valid", False),
    (("explain", "job.json"), "settings: none", False),
    (("jobs", "--url", "http://127.0.0.1:9"), "nothing listens there", True),
    (("drop", "."), "there are no settings", True),
    (("mcp",), "the package mcp is not installed", True),
    (("up",), "needs a clone", True),
    (("demo",), "needs a clone", True),
    (("az-env",), "needs a clone", True),
    (("emulate", "batch"), "needs a clone", True),
    (("setup",), "needs a clone", True),
)
_PIP = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-compile")


class Failed(Exception):
    """What went wrong, with what pip said."""


def main(versions: Sequence[str]) -> int:
    """1 with the reason when one fails; a Python that is not there is said."""
    for version in versions:
        result = interpreter(version)
        if result is None:
            sys.stdout.write(f"Python {version}: not tried, there is none that can make environments\n")
            continue
        size = ""
        try:
            if version in _OF_APP:
                with tempfile.TemporaryDirectory() as folder:
                    size = f"; of its package, {try_app(result, Path(folder))}"
            with tempfile.TemporaryDirectory() as folder:
                try_command(result, Path(folder))
            if version == _WITH_OLDEST:
                with tempfile.TemporaryDirectory() as folder:
                    try_command(result, Path(folder), *oldest())
        except Failed as error:
            sys.stdout.write(f"Python {version}: FAILED: {error}\n")
            return 1
        app = "the app is installed and loads; what has another hash is refused; " if size else ""
        oldest_too = ", with the oldest packages too" if version == _WITH_OLDEST else ""
        sys.stdout.write(f"Python {version}: {app}the command alone works{oldest_too}{size}\n")
    return 0


def interpreter(version: str) -> Interpreter | None:
    """One of this version, found by running it."""
    for candidate in candidates(os.environ, version):
        if (result := ask(candidate)) and ".".join(map(str, result.version)) == version:
            return result
    return None


def try_app(result: Interpreter, folder: Path) -> Size:
    """What a deployment sends and builds. Raises Failed."""
    app = folder / "app"
    package(app)
    run(result.path, "-m", "venv", "clean", cwd=folder)
    python = str(folder / "clean" / "bin" / "python")
    for name in _OF_APP_LIST:
        listed = (ROOT / "requirements.txt").read_text()
        entry = re.search(rf"^{name}==.*\n(?:    .*\n)+", listed, re.MULTILINE)
        assert entry is not None
        (folder / "other.txt").write_text(re.sub(r"sha256:\w{8}", "sha256:00000000", entry[0]))
        output = run(python, *_PIP, "--no-deps", "-r", "other.txt", cwd=folder, fails=True)
        if "DO NOT MATCH THE HASHES" not in output:
            raise Failed(f"{name} was refused, but not for its hash: {output}")
    run(python, *_PIP, "--target", str(PACKAGES), "-r", "requirements.txt", cwd=app)
    run("env", f"PYTHONPATH={app / PACKAGES}", python, "-m", "pip", "check", cwd=app)
    try:
        return measure(python, app)
    except subprocess.CalledProcessError as error:
        raise Failed(f"the app does not load from its package: {error.stderr[-2000:]}") from error


def oldest() -> list[str]:
    """The oldest version of each package that the command takes."""
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return [re.sub(r"(~=|>=)([\d.]+).*", r"==\2", one) for one in dependencies]


def try_command(result: Interpreter, folder: Path, *packages: str) -> None:
    """Beside these packages. Raises Failed."""
    created = wheel(folder)
    run(result.path, "-m", "venv", "clean", cwd=folder)
    programs, rig = folder / "clean" / "bin", folder / "elsewhere"
    shutil.copytree(ROOT / "examples" / "hello", rig)
    run(str(programs / "python"), *_PIP, str(created), *packages, cwd=folder)
    run(str(programs / "python"), "-m", "pip", "check", cwd=folder)
    run(str(programs / "python"), "-W", "error", "-c", "from slipway import Client; Client()", cwd=rig)
    slipway = str(programs / "slipway")
    for request, output, fails in _COMMANDS:
        if output not in (answer := run(slipway, *request, cwd=rig, fails=fails)):
            raise Failed(f"slipway {' '.join(request)} said: {answer}")


def run(*argv: str, cwd: Path, fails: bool = False) -> str:
    """What a command said that knows no running stack. Raises Failed unless it ends as it is to end."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    clean["XDG_STATE_HOME"] = str(cwd / "state")
    done = subprocess.run(argv, cwd=cwd, env=clean, capture_output=True, text=True, check=False, timeout=600)
    output = (done.stdout + done.stderr)[-2000:]
    if bool(done.returncode) != fails:
        raise Failed(f"{' '.join(argv)} ended with {done.returncode}: {output}")
    return output


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
