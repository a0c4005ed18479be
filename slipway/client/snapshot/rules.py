"""What of a folder does not become code: what tools keep there, environments, results, and secrets.

The list is fixed, so that the same folder is the same code everywhere; `.gitignore` is not read, since what
git leaves out may be what the job needs. `.slipwayignore` adds to the list, and a line `!name` takes back;
wildcards alone, such as `!*/`, do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from slipway.client.files.save import MARK
from slipway.client.snapshot.ignore_file import NAME as IGNORE_FILE
from slipway.client.snapshot.ignore_file import IgnoreFile
from slipway.failure import Failure

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
#: Files and folders that hold secrets, by their usual names, in capital letters, too.
_SECRETS = (
    ".env*",
    "*.env",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    "local.settings.json",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "!id_*.py",
    "*.pem",
    "*.key",
    "*.pfx",
    "*.p12",
    "*.ppk",
    ".aws/",
    ".azure/",
    ".gnupg/",
    ".kube/",
    ".ssh/",
)
#: How the name of a copy ends that people and editors keep.
_COPY = re.compile(r"(?:~|\.(?:bak|backup|old|orig|save))$", re.IGNORECASE)
#: What describes the job stands at the top, and is sent as the request.
REQUEST = ("/job.json", "/slipway.json")
#: The files by which a folder is an environment of Python, or the downloaded output of a job.
_MARKS = ("pyvenv.cfg", MARK)

#: Why it is left out: a person said so or it is the request; tools keep it there; it may be a secret.
Reason = Literal["", "own", "usual", "secret"]


class Rules:
    """The rules of one folder. Raises Failure if its `.slipwayignore` cannot be read."""

    def __init__(self, folder: Path) -> None:
        self._own = IgnoreFile.of_folder(folder)
        self._request, self._tools = map(IgnoreFile.from_patterns, (REQUEST, _TOOLS))
        self._secrets = IgnoreFile.from_patterns(_SECRETS, any_case=True)

    def reason(self, path: str, place: Path, *, folder: bool) -> Reason:
        """Why it is left out, by itself; "" if it is not. What is in a folder goes as the folder does."""
        if path == IGNORE_FILE or self._request.decision(path, folder=folder):
            return "own"
        if self._own.decision(path, folder=folder):
            return "own"
        if self._own.takes_back(path, folder=folder):
            return ""
        if self._is_secret(path, folder=folder):
            return "secret"
        is_made = folder and any((place / mark).is_file() for mark in _MARKS)
        return "usual" if is_made or self._tools.decision(path, folder=folder) else ""

    def reasons(self, path: str, root: Path, *, folder: bool = False) -> set[Reason]:
        """Why a path below `root` is left out, by itself or with a folder above it; none if it is not."""
        ways = [(one, is_folder or folder) for one, is_folder in _levels(path)] if path != "." else []
        return {reason for one, way in ways if (reason := self.reason(one, root / one, folder=way))}

    def secret_of_link(self, path: str, target: str) -> bool:
        """Whether a link leads to what may be a secret, by the target's path, and is not taken back."""
        if self._own.takes_back(path, folder=False):
            return False
        return any(self._is_secret(one, folder=folder) for one, folder in _levels(target))

    def is_secret(self, path: str) -> bool:
        """Whether a file may be a secret, by its name or that of a folder above it, and is not taken back."""
        return any(
            self._is_secret(one, folder=folder) and not self._own.takes_back(one, folder=folder)
            for one, folder in _levels(path)
        )

    def _is_secret(self, path: str, *, folder: bool) -> bool:
        return any(self._secrets.decision(one, folder=folder) for one in {path, _COPY.sub("", path)})


def refuse_results(folder: Path) -> None:
    """Raise Failure for a folder into which the output of a job was downloaded: it would be sent as code."""
    if (folder / MARK).is_file():
        raise Failure(
            f"{folder} has results of a job ({MARK}), which would be sent as code; move them into a folder "
            f"of their own, and delete {MARK} here"
        )


def _levels(path: str) -> Iterator[tuple[str, bool]]:
    """The folders above a file, and the file; whether each is a folder."""
    levels = path.split("/")
    for count in range(1, len(levels) + 1):
        yield "/".join(levels[:count]), count < len(levels)
