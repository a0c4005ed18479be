"""The templates of infra/ with one line changed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from local.bicep.reader import read
from local.bicep.template import Template
from local.setup.steps import ROOT

INFRA = ROOT / "infra"


@cache
def unchanged() -> dict[str, Template]:
    return {path.name: read(path, path.name) for path in sorted(INFRA.glob("*.bicep"))}


def planted(folder: Path, file: str, old: str, new: str, more: str = "") -> dict[str, Template]:
    """All templates, one of them with a text replaced, once, and with more at its end."""
    text = (INFRA / file).read_text("utf-8")
    assert old in text, f"{file} no longer has {old!r}"
    (folder / file).write_text(text.replace(old, new, 1) + more, "utf-8")
    return unchanged() | {file: read(folder / file, file)}
