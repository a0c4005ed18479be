"""The templates of infra/ with one line changed."""

from __future__ import annotations

from pathlib import Path

from local.bicep.reader import read
from local.bicep.template import Template
from local.setup.steps import ROOT

INFRA = ROOT / "infra"


def planted(folder: Path, file: str, old: str, new: str, more: str = "") -> dict[str, Template]:
    """All templates, one of them with a text replaced, once, and with more at its end."""
    for path in (one for one in INFRA.iterdir() if one.is_file()):
        text = path.read_text("utf-8")
        if path.name == file:
            assert old in text, f"{file} no longer has {old!r}"
            text = text.replace(old, new, 1) + more
        (folder / path.name).write_text(text, "utf-8")
    return {path.name: read(path, path.name) for path in folder.glob("*.bicep")}
