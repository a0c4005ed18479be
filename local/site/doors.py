"""The doors of docs/README.md: the pages for each reader, by the question that they answer."""

import re
from pathlib import Path
from typing import NamedTuple

from local.setup.steps import ROOT
from local.site.links import links, title

INDEX = ROOT / "docs" / "README.md"
_SECTION = re.compile(r"^## (I .+)\n((?:(?!^## ).*\n?)+)", re.MULTILINE)
_ROW = re.compile(r"^\| ([^|]+\?) \| .+$")


class Page(NamedTuple):
    """A page of a door; the question is empty for one that is there to look things up."""

    file: Path
    title: str
    question: str


class Door(NamedTuple):
    """What one kind of reader looks for."""

    title: str
    pages: tuple[Page, ...]


def doors(index: Path = INDEX) -> list[Door]:
    """The doors of an index, in its order; each page is behind the first one that names it."""
    have = {index.resolve()}
    return [Door(name, _pages(section, index, have)) for name, section in _SECTION.findall(index.read_text())]


def _pages(section: str, index: Path, have: set[Path]) -> tuple[Page, ...]:
    pages = []
    for line in section.splitlines():
        row = _ROW.match(line)
        for _, target in links(line):
            file = (index.parent / target).resolve()
            if file.suffix == ".md" and file not in have:
                have.add(file)
                pages.append(Page(file, title(file), row[1] if row else ""))
    return tuple(pages)
