"""What of a folder does not become code: what tools keep there, environments, results, and secrets.

The list is fixed, so that the same folder is the same code everywhere; `.gitignore` is not read, since what
git leaves out may be what the job needs. `.slipwayignore` adds to the list, and a line `!name` takes back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from slipway.client.files.save import MARK
from slipway.client.ignore_file import NAME as IGNORE_FILE
from slipway.client.ignore_file import IgnoreFile

#: What tools keep beside code.
_TOOLS = (
    ".git",
    ".hg/",
    ".svn/",
    "__pycache__/",
    ".ipynb_checkpoints/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".tox/",
    ".DS_Store",
    "node_modules/",
)
#: Files that hold secrets, by their usual names.
_SECRETS = (".env*", ".netrc", ".pypirc", "id_rsa", "id_dsa", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key")
#: What describes the job stands at the top, and is sent as the request.
REQUEST = ("/job.json", "/slipway.json")
#: The files by which a folder is an environment of Python, or the downloaded output of a job.
_MARKS = ("pyvenv.cfg", MARK)

#: Why it is left out: a person said so or it is the request; tools keep it there; it may be a secret.
Reason = Literal["", "own", "usual", "secret"]


class Rules:
    """The rules of one folder. Raises Failure if its `.slipwayignore` cannot be read."""

    def __init__(self, folder: Path) -> None:
        self._rules = IgnoreFile.of_folder(folder, (*_TOOLS, *_SECRETS))
        self._request, self._tools, self._secrets = map(IgnoreFile.from_patterns, (REQUEST, _TOOLS, _SECRETS))

    def reason(self, path: str, place: Path, *, folder: bool) -> Reason:
        """Why it is left out, by itself; "" if it is not. What is in a folder goes as the folder does."""
        if path == IGNORE_FILE or self._request.decision(path, folder=folder):
            return "own"
        decision = self._rules.decision(path, folder=folder)
        if decision is None and folder and any((place / mark).is_file() for mark in _MARKS):
            return "usual"
        if not decision:
            return ""
        if self._secrets.decision(path, folder=folder):
            return "secret"
        return "usual" if self._tools.decision(path, folder=folder) else "own"
