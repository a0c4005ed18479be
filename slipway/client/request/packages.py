"""Which file of a folder lists the packages that its script needs."""

from __future__ import annotations

import tomllib
from pathlib import Path

from slipway.client.snapshot.choose import by_name
from slipway.client.snapshot.walk import Tree

#: The list for pip, which comes before all others.
REQUIREMENTS = "requirements.txt"
_PROJECT = "pyproject.toml"
_LISTS = (REQUIREMENTS, "uv.lock", _PROJECT, "environment.yml", "environment.yaml")


def packages_file(tree: Tree) -> str:
    """The name of the file by which nodes install packages; "" if the folder does not list any."""
    files = by_name(tree)
    names = (name for name in _LISTS if name in files)
    return next((name for name in names if name != _PROJECT or _has_dependencies(files[name].path)), "")


def _has_dependencies(project: Path) -> bool:
    """Whether a project depends on packages; other tools have their settings in that file, too."""
    try:
        content = tomllib.loads(project.read_text(encoding="utf-8"))
        return bool(content["project"]["dependencies"])
    except (OSError, ValueError, LookupError, TypeError):
        return False
