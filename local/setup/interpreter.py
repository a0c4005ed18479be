"""Chooses the Python for the project: the best one that runs here, found by running each.

Written for any Python 3 that may be called `python3`: no syntax newer than 3.6, standard library only.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Iterator, Mapping, NamedTuple  # noqa: UP035 - an old Python must be able to read this

OLDEST = (3, 11)
#: Best first. From 3.13 on Microsoft's production runtime of Python function apps can be installed.
PREFERRED = ((3, 13), (3, 14), (3, 12), (3, 11))

#: By this a candidate describes itself; the base executable is the one behind a virtual environment.
_QUESTION = """
import importlib.util, sys
base = getattr(sys, "_base_executable", None) or sys.executable
print(sys.version_info[0], sys.version_info[1], int(bool(importlib.util.find_spec("ensurepip"))), base)
"""


class InstallError(Exception):
    """The project cannot be installed here; the message says in one line what to do."""


class Interpreter(NamedTuple):
    """A Python that has been run and can make a virtual environment."""

    path: str
    version: "tuple[int, int]"


def choose(environ: "Mapping[str, str]") -> Interpreter:
    """The interpreter that PYTHON names, else the best of PATH, pyenv and uv. Raises InstallError."""
    named = environ.get("PYTHON")
    if named:
        return _by_name(named, environ)
    tried: dict[str, Interpreter | None] = {}
    for version in PREFERRED:
        for candidate in candidates(environ, "{}.{}".format(*version)):
            if candidate not in tried:
                tried[candidate] = ask(candidate)
            answer = tried[candidate]
            if answer and answer.version == version:
                return answer
    for answer in tried.values():
        if answer and answer.version >= OLDEST:
            return answer
    raise InstallError(
        "Slipway needs Python 3.11 or newer that can make virtual environments (Debian: also python3-venv). "
        "None was found on PATH; install one, or name it: make PYTHON=/path/to/python3.13"
    )


def ask(candidate: str) -> "Interpreter | None":
    """Run a candidate to find out what it is; None if it does not run.

    A version manager's shim may exist and fail; Debian's Python may be unable to make virtual environments.
    """
    try:
        output = subprocess.check_output(
            [candidate, "-E", "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=20,
        )
        major, minor, can_make_venv, base = output.decode().strip().split(" ", 3)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Interpreter(base, (int(major), int(minor))) if can_make_venv == "1" else None


def _by_name(name: str, environ: "Mapping[str, str]") -> Interpreter:
    paths = [name] if os.sep in name else [str(folder / name) for folder in _path(environ)]
    for path in paths:
        answer = ask(path)
        if answer and answer.version >= OLDEST:
            return answer
    raise InstallError(
        f"PYTHON={name} is not a Python 3.11 or newer that runs and can make virtual environments "
        "(Debian: also python3-venv); name another, or leave PYTHON unset"
    )


def candidates(environ: "Mapping[str, str]", version: str) -> "Iterator[str]":
    """Paths that may be a Python of this version, and any plain python3, in the order to try."""
    home = Path(environ.get("HOME") or "/nonexistent")
    pyenv = Path(environ.get("PYENV_ROOT") or home / ".pyenv") / "versions"
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    uv = Path(environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python")
    program = "python" + version
    paths = [path / program for path in _path(environ)]
    paths += sorted(pyenv.glob("*/bin/" + program)) + sorted(uv.glob("*/bin/" + program))
    paths += [path / "python3" for path in _path(environ)]
    for path in paths:
        if path.is_file() and os.access(str(path), os.X_OK):
            yield str(path)
    yield sys.executable


def _path(environ: "Mapping[str, str]") -> "list[Path]":
    return [Path(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder]
