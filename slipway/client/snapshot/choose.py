"""Chooses the script of a folder that runs, and says why."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import NamedTuple

from shared.core.visible import escaped
from slipway.client.snapshot.walk import File, Tree
from slipway.failure import Failure

#: Scripts that run by their names alone.
_NAMES = ("train.py", "main.py")
#: Files of Python that are not meant to run as a job.
_NOT_RUN = re.compile(r"setup\.py|conftest\.py|test_.*\.py|.*_test\.py|__\w+__\.py")
_GUARD = re.compile(rb"^if\s+__name__\s*==\s*['\"]__main__['\"]\s*:", re.MULTILINE)
_IMPORTED = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([\w.]+(?:[ \t]*,[ \t]*[\w.]+)*)", re.MULTILINE)
_REMEDY = "name the one that runs by --script"
#: Bytes of a file that are read.
_BEGIN = 1 << 20


class Chosen(NamedTuple):
    """The path of a script in the folder, and why it is this one of several; "" for the only one."""

    script: str
    reason: str = ""


def choose(tree: Tree, name: str = "") -> Chosen:
    """The script that runs, the one of that name if there is one. Raises Failure if that is not clear."""
    files = by_name(tree)
    if name:
        if (path := name.removeprefix("./")) not in files:
            left_out = "which is not sent" if (tree.folder / name).is_file() else "which does not have it"
            raise Failure(f"--script {name}: name a file of {tree.folder}, {left_out}")
        return Chosen(path)
    scripts = sorted(name for name in files if "/" not in name and name.endswith((".py", ".sh")))
    scripts = [name for name in scripts if not _NOT_RUN.fullmatch(name)] or scripts
    shell = [name for name in scripts if name.endswith(".sh")]
    python = [name for name in scripts if name not in shell]
    if not scripts:
        raise Failure(f"{tree.folder} has no script at its top and no job.json; {_REMEDY}")
    chosen = _one_of([files[name] for name in python or shell], tree)
    if chosen.reason or not (python and shell):
        return chosen
    return Chosen(chosen.script, f"as Python comes before {escaped(shell[0])}")


def by_name(tree: Tree) -> dict[str, File]:
    """The files of a folder by their names, also those of links to a file of it."""
    files = {file.name: file for file in tree.files}
    links = dict[str, File]()
    for name, target in tree.links.items():
        if file := files.get(posixpath.normpath(posixpath.join(posixpath.dirname(name), target))):
            links[name] = file._replace(name=name)
    return files | links


def _one_of(scripts: Sequence[File], tree: Tree) -> Chosen:
    if len(scripts) == 1:
        return Chosen(scripts[0].name)
    names = [script.name for script in scripts]
    if first := next((name for name in _NAMES if name in names), ""):
        return Chosen(first, "by its name")
    texts = {one.name: _text(one) for one in scripts if not _NOT_RUN.fullmatch(one.name)}
    guarded = [name for name, text in texts.items() if _GUARD.search(text)]
    if len(guarded) == 1:
        return Chosen(guarded[0], "the only one with a main guard")
    imported = {module for text in texts.values() for module in _modules(text)}
    roots = [name for name in texts if name.removesuffix(".py") not in imported]
    if len(roots) == 1:
        return Chosen(roots[0], "the one that no other imports")
    shown = ", ".join(map(escaped, names[:5])) + (", …" if len(names) > 5 else "")
    raise Failure(f"{tree.folder} has {len(names)} scripts and no job.json; {_REMEDY}: {shown}")


def _modules(text: bytes) -> set[str]:
    """The modules that a script imports, as far as their first dot."""
    lists = (match[1].decode().split(",") for match in _IMPORTED.finditer(text))
    return {name.strip().partition(".")[0] for names in lists for name in names}


def _text(file: File) -> bytes:
    try:
        with file.path.open("rb") as data:
            return data.read(_BEGIN)
    except OSError as error:
        raise Failure(f"{escaped(file.name)} cannot be read: {error.strerror}") from None
